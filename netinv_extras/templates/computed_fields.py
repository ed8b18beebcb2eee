"""Computed fields: opt-in members of objects, rendered from templates of the object."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Customizable, Organizational, table_of
from netinv_core.models.columns import Description, boolean, column, integer, required_text, slug, text
from netinv_core.resource import FieldFactory, Resource
from netinv_extras.content_types import content_type_parameter, type_label
from netinv_extras.templates import sandbox
from netinv_extras.templates.objects import ObjectLoader

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

NAME = "computed_fields"
FALLBACK = "Fallback value (if any) to be output for the field in the case of a template rendering error."


class ComputedField(Organizational):
    """A value that a template renders for each object of a content type.

    It is ``fallback_value`` when rendering fails.
    """

    __tablename__ = "extras_computed_field"
    __table_args__ = (unique_set("content_type", "label"),)

    slug: Mapped[str] = slug("label", slug_joint="_")
    label: Mapped[str] = required_text(100, "Name of the field as displayed to users")
    description: Mapped[Description]
    content_type: Mapped[str] = column(length=100)
    template: Mapped[str] = required_text(500, "Jinja2 template code for field value")
    fallback_value: Mapped[str] = text(500, FALLBACK)
    weight: Mapped[int] = integer(0, 32767, default=100)
    advanced_ui: Mapped[bool] = boolean(False, hidden=True, in_object_data=True)


def may_compute(endpoint: Endpoint) -> bool:
    """True for endpoints whose objects have computed fields."""
    return issubclass(endpoint.model, Customizable) and NAME not in endpoint.resource.omit


computed_fields = Resource(
    ComputedField,
    "computed-fields",
    display="label",
    brief=["content_type", "label"],
    order=["weight", "slug"],
    search=["label", "description", "content_type", "template", "fallback_value"],
    fields=[type_label("content_type", may_compute, offered=False)],
    omit=["custom_fields", NAME, "relationships"],
    filters=[content_type_parameter("content_type", unknown_is_empty=True)],
    configuration=True,
    example={"content_type": "extras.secret", "template": "{{ obj.name }}"},
)


computed_fields.rule(sandbox.rule("template"))


@dataclasses.dataclass(frozen=True)
class ComputedDefinition:
    """Computed field of a content type, as cached."""

    slug: str
    template: str
    fallback: str
    label: str


def definitions_of(uow: UnitOfWork, label: str) -> Sequence[ComputedDefinition]:
    """Returns the computed fields of a content type, ordered by weight, from the configuration cache."""
    definitions: Sequence[ComputedDefinition] = uow.cached_config(NAME, _load).get(label, ())
    return definitions


def _load(uow: UnitOfWork) -> dict[str, list[ComputedDefinition]]:
    table = table_of(ComputedField)
    definitions: dict[str, list[ComputedDefinition]] = {}
    for row in uow.execute(sa.select(table).order_by(table.c.weight, table.c.slug)):
        definition = ComputedDefinition(row.slug, row.template, row.fallback_value, row.label)
        definitions.setdefault(row.content_type, []).append(definition)
    return definitions


@dataclasses.dataclass(eq=False, kw_only=True)
class ComputedFields(fields.Field):
    """JSON object with the rendered value of each computed field of the content type, by slug."""

    opt_in: bool = True
    read_only: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        key, endpoint = plan.column(place, "id"), place.endpoint
        batch = plan.batch(lambda uow, rows: results_of(uow, endpoint, [row[key] for row in rows]))
        return lambda row, page: {
            definition.slug: text if error is None else definition.fallback
            for definition, text, error in page.batches[batch].get(row[key], ())
        }


def results_of(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]
) -> dict[Any, list[tuple[ComputedDefinition, str, str | None]]]:
    """Renders the computed fields of objects; returns by id the definitions with their texts, or with their errors."""
    definitions = definitions_of(uow, endpoint.label)
    if not definitions:
        return {}
    loader = ObjectLoader(uow, without=(NAME,))
    batch = loader.add(endpoint, keys, open=True)
    variables = {key: {"obj": batch.object(key)} for key in keys}
    pairs = [(key, definition) for key in variables for definition in definitions]
    renderings = [sandbox.Rendering(definition.template, variables[key]) for key, definition in pairs]
    results = sandbox.render(renderings, sandbox.limits_of(uow.registry), loader)
    found: dict[Any, list[tuple[ComputedDefinition, str, str | None]]] = {}
    for (key, definition), result in zip(pairs, results, strict=True):
        failed = isinstance(result, sandbox.RenderError)
        text, error = ("", str(result)) if failed else (str(result), None)
        found.setdefault(key, []).append((definition, text, error))
    return found


field = FieldFactory(NAME, lambda registry, endpoint: ComputedFields(name=NAME, openapi={"type": "object"}))
