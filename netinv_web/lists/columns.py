"""Columns of lists: which fields a list shows, in what order; chosen in the URL, by the user, or derived.

Values of custom fields are columns too, named like their filters: ``cf_<slug>``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from netinv_core import fields
from netinv_core.labels import label_of, label_of_name
from netinv_core.packages import errors_of
from netinv_core.presentation import Presentation, merged
from netinv_core.read.filters import dynamic_filters
from netinv_core.read.ordering import orderings_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.types import Endpoint, Field, UnitOfWork

MAX_DERIVED = 7
MAX_COLUMNS = 40
NEVER = frozenset({"id", "display", "url"})
NUMBERS = (int, float)
CUSTOM_FIELDS = "custom_fields"
CUSTOM_FIELD_PREFIX = "cf_"


@dataclasses.dataclass(frozen=True)
class Column:
    """A column of a list. It shows a field, or the ``member`` of its value.

    ``ordering`` is the name by which the list is ordered by the column; empty when it cannot be.
    """

    field: Field
    label: str
    ordering: str = ""
    numeric: bool = False
    member: str = ""

    @property
    def name(self) -> str:
        """The name in queries."""
        return f"{CUSTOM_FIELD_PREFIX}{self.member}" if self.member else self.field.name


@cached_in_registry
def presentation_of(endpoint: Endpoint) -> Presentation:
    """The presentation of a resource: what it states, then what packages state about it."""
    resource = endpoint.resource if endpoint.resource.of is None else endpoint.resource.of
    presentation = resource.presentation
    registry = endpoint.registry
    for package, other in registry.call_each("netinv_web_presentation", registry=registry, endpoint=endpoint):
        with errors_of(package):
            presentation = merged(presentation, other) if other is not None else presentation
    return presentation


def available(endpoint: Endpoint) -> list[Field]:
    """The fields that can be columns."""
    naming = naming_field(endpoint)
    return [
        field
        for name, field in endpoint.fields.items()
        if name not in NEVER and name != naming and not (field.write_only or field.confidential)
    ]


def naming_field(endpoint: Endpoint) -> str:
    """The field that the column with the object's name shows already: the one its display consists of."""
    paths = endpoint.resource.display[1:]
    return paths[0] if len(paths) == 1 and paths[0] in endpoint.fields else ""


def default_columns(endpoint: Endpoint) -> list[str]:
    """The columns that the presentation states, or those that follow from the fields.

    Status first, then references and choices, then plain values; counters and the description last.
    """
    names = {field.name for field in available(endpoint)}
    stated = [name for name in presentation_of(endpoint).columns if name in names]
    if stated:
        return stated
    ranked = sorted(
        (rank, place, field.name)
        for place, field in enumerate(available(endpoint))
        if (rank := _rank(field)) is not None
    )
    derived = [name for _, _, name in ranked[:MAX_DERIVED]]
    order = {name: place for place, name in enumerate(["status", *endpoint.fields])}
    derived.sort(key=lambda name: (name == "description", order[name]))
    return derived


def _rank(field: Field) -> int | None:
    """The rank of a field among those that could be columns; ``None`` for those that are not, unless asked for."""
    if field.costly or field.opt_in or field.name in ("slug", "comments", "created", "last_updated", "notes_url"):
        return None
    if isinstance(field, fields.Status):
        return 0
    if isinstance(field, fields.Reference):
        return 1
    if isinstance(field, fields.Choice) or field.name in ("description", "enabled"):
        return 2
    if isinstance(field, fields.Count):
        return 3
    if isinstance(field, fields.Value) and field.info.kind not in ("json", "image", "opaque"):
        return 2 if field.required else 4
    return None


def all_columns(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Column]:
    """The columns that a list can have, by name; those of custom fields last."""
    columns = {field.name: column_of(endpoint, field) for field in available(endpoint) if field.name != CUSTOM_FIELDS}
    return {**columns, **_custom_columns(uow, endpoint)}


def _custom_columns(uow: UnitOfWork, endpoint: Endpoint) -> Mapping[str, Column]:
    field = endpoint.fields.get(CUSTOM_FIELDS)
    if field is None:
        return {}
    columns: dict[str, Column] = {}
    for name, item in dynamic_filters(uow, endpoint).items():
        if name.startswith(CUSTOM_FIELD_PREFIX):
            slug = name.removeprefix(CUSTOM_FIELD_PREFIX)
            columns[name] = Column(field, label_of_name(slug), name if item.sort_by else "", member=slug)
    return columns


def columns_of(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> list[Column]:
    """The columns of these names, in order; names that are no columns are left out."""
    known = {field.name: field for field in available(endpoint)}
    custom: Mapping[str, Column] = {}
    if any(name.startswith(CUSTOM_FIELD_PREFIX) for name in names):
        custom = _custom_columns(uow, endpoint)
    columns = [
        column_of(endpoint, known[name]) if name in known else custom[name]
        for name in dict.fromkeys(names)
        if name in known or name in custom
    ]
    return columns[:MAX_COLUMNS]


def column_of(endpoint: Endpoint, field: Field) -> Column:
    """The column of a field."""
    numeric = isinstance(field, fields.Count) or (
        isinstance(field, fields.Value) and not isinstance(field, fields.Choice) and field.python_type in NUMBERS
    )
    ordering = field.name if field.name in orderings_of(endpoint) else ""
    return Column(field, label_of(field), ordering, numeric)
