"""Rack types: models of racks. A rack of a type has the form of the type."""

from __future__ import annotations

import decimal
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import (
    PROTECT,
    Choices,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    boolean,
    choice,
    decimal_number,
    foreign_key,
    in_use,
    integer,
    many_to_many,
    permissions,
    required_text,
    slug,
    to_one,
    unique_set,
)
from netinv_dcim.device_types import Manufacturer
from netinv_dcim.racks import Rack

LABEL, RACK, NAME = "rack_types.racktype", "dcim.rack", "rack_type"
FORM_FACTORS = Choices.of(
    ("2-post-frame", "2-post frame"),
    ("4-post-frame", "4-post frame"),
    ("4-post-cabinet", "4-post cabinet"),
    ("wall-frame", "Wall-mounted frame"),
    ("wall-frame-vertical", "Wall-mounted frame (vertical)"),
    ("wall-cabinet", "Wall-mounted cabinet"),
    ("wall-cabinet-vertical", "Wall-mounted cabinet (vertical)"),
    ("other", "Other"),
)
WIDTHS = Choices.of(*((inches, f"{inches} inches") for inches in (10, 19, 21, 23)))
LENGTH_UNITS = Choices.of(mm="Millimeters", **{"in": "Inches"})
WEIGHT_UNITS = Choices.of(kg="Kilograms", g="Grams", lb="Pounds", oz="Ounces")
MAX = 2**31 - 1


class RackType(Primary):
    """A model of racks of a manufacturer, with its form and what it carries."""

    __tablename__ = "rack_types_type"
    __table_args__ = (unique_set("manufacturer_id", "model"),)

    manufacturer_id: Mapped[Ref] = foreign_key(Manufacturer, on_delete=PROTECT, related_name="rack_types", index=False)
    model: Mapped[str] = required_text(100)
    slug: Mapped[str] = slug(of="model")
    form_factor: Mapped[str] = choice(FORM_FACTORS, blank=False, default="4-post-cabinet")
    width: Mapped[int] = choice(WIDTHS, length=None, default=19, help="Rail-to-rail width")
    u_height: Mapped[int] = integer(1, 100, "Height in rack units", default=42, label="Height (U)")
    starting_unit: Mapped[int] = integer(1, 100, "Number of the lowest unit", default=1)
    desc_units: Mapped[bool] = boolean(False, "Units are numbered top-to-bottom", label="Descending units")
    outer_width: Mapped[int | None] = integer(0, 32767, "Outer dimension of rack (width)")
    outer_depth: Mapped[int | None] = integer(0, 32767, "Outer dimension of rack (depth)")
    outer_unit: Mapped[str] = choice(LENGTH_UNITS)
    mounting_depth: Mapped[int | None] = integer(0, 32767, "Depth between front and rear rails", unit="mm")
    weight: Mapped[decimal.Decimal | None] = decimal_number(8, 2, minimum=0)
    max_weight: Mapped[int | None] = integer(0, MAX, "Load that the rack carries", label="Maximum weight")
    weight_unit: Mapped[str] = choice(WEIGHT_UNITS)
    description: Mapped[Description]
    comments: Mapped[Comments]


# The columns of racks that their type gives, by those of types.
FORM: Mapping[str, str] = {
    "form_factor": "type",
    **{name: name for name in ("width", "u_height", "desc_units", "outer_width", "outer_depth", "outer_unit")},
}
UNITS = {"outer_unit": ("outer_width", "outer_depth"), "weight_unit": ("weight", "max_weight")}

types_of_racks = many_to_many(
    "rack_types_rack",
    Rack.__tablename__,
    RackType.__tablename__,
    related_name="racks",
    count_field="rack_count",
    single=True,
)
field = to_one(NAME, types_of_racks, LABEL, label="Rack type", help="Model, which gives the rack its form")

rack_types = Resource(
    RackType,
    "rack-types",
    display="model",
    brief=["manufacturer", "model", "slug"],
    order=["manufacturer.name", "model"],
    search=["model", "slug", "manufacturer.name", "description", "comments"],
    example={"outer_width": 600, "outer_unit": "mm", "weight": 90, "weight_unit": "kg"},
    presentation=Presentation(
        icon="server-stack",
        columns=["manufacturer", "form_factor", "width", "u_height", "rack_count", "description"],
        facets=["manufacturer", "form_factor", "width"],
        fieldsets=[
            ("Rack type", ["manufacturer", "model", "slug", "form_factor", "description"]),
            ("Units", ["width", "u_height", "starting_unit", "desc_units"]),
            ("Dimensions", ["outer_width", "outer_depth", "outer_unit", "mounting_depth"]),
            ("Weight", ["weight", "max_weight", "weight_unit"]),
        ],
    ),
)


@rack_types.prepare
def units_measure_something(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Clears units of which no value is set."""
    for draft in drafts:
        for unit, names in UNITS.items():
            if draft[unit] and all(draft[name] is None for name in names):
                draft[unit] = ""


@rack_types.rule(changing=[*UNITS, *(name for names in UNITS.values() for name in names)])
def measures_have_a_unit(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects dimensions and weights without a unit."""
    for draft in drafts:
        for unit, names in UNITS.items():
            if not draft[unit] and any(draft[name] is not None for name in names):
                draft.reject(unit, f"A unit is needed for {' and '.join(names)}.")


@rack_types.before_delete
def types_of_racks_are_kept(uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
    """Refuses to delete the type of a rack; one statement.

    :raises Conflict: when there are racks
    """
    racks = racks_of(uow, [row["id"] for row in rows])
    if racks:
        table = Rack.__table__
        limits = permissions.visible(uow, uow.registry.of_model(Rack), table)
        visible = uow.execute(sa.select(table.c.id, table.c.name).where(table.c.id.in_(list(racks)), *limits)).all()
        raise in_use([(key, name) for key, name in visible], len(racks))


def racks_of(uow: UnitOfWork, types: Sequence[Any]) -> dict[Any, Any]:
    """The type of each rack of some types; one statement."""
    pairs = types_of_racks.c
    found = uow.execute(sa.select(pairs.owner_id, pairs.target_id).where(pairs.target_id.in_(types)))
    return dict(found.tuples().all())
