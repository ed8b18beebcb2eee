"""Content types as a resource, as fields and filters of other resources, and the content types of the API."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.content_types import ContentTypeRow
from netinv_core.errors import Denied
from netinv_core.labels import title_of_type
from netinv_core.models.base import Organizational
from netinv_core.models.columns import column_info
from netinv_core.presentation import Presentation
from netinv_core.read import filters, listing
from netinv_core.read.name_lookup import invalid_choice
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql.lookups import negated
from netinv_core.sql.plans import plan_of
from netinv_core.write.draft import ALL
from netinv_core.write.reference_messages import NO_SUCH_ID, message

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.resource import Rule
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

INVALID_CHOICE = "Select a valid choice. That choice is not one of the available choices."


def name_of(registry: Registry, label: str) -> str:
    """Returns the display name of a content type, such as ``dcim | rack group``."""
    app, _, model = label.partition(".")
    endpoint = registry.get(label)
    return f"{app} | {endpoint.title if endpoint is not None else model}"


def content_type_parameter(attribute: str, *, unknown_is_empty: bool = False) -> filters.Filter:
    """Query parameter for a column of labels: one ``app.model``.

    :param unknown_is_empty: an ``app.model`` that no model has finds nothing, as it does in version 1.6, in place of an
        error
    """

    def by_label(uow: UnitOfWork, table: Any, values: list[str], lookup: str) -> Any:
        label = values[-1].lower()
        if uow.registry.content_type(label) is None and not (unknown_is_empty and label.count(".") == 1):
            raise invalid_choice(attribute, values[-1])
        condition = table.c[attribute] == label
        return negated(condition) if lookup else condition

    return filters.custom(attribute, by_label, multiple=False, suffixes=("n",))


def content_type_pair(attribute: str, *, unknown_is_empty: bool = False) -> list[filters.Filter]:
    """Query parameters for a column of labels: by ``app.model``, and by the numeric id (``…_id``)."""

    def by_number(uow: UnitOfWork, table: Any, values: list[str], lookup: str) -> Any:
        labels = {str(item.id): item.label for item in uow.registry.content_types.values()}
        if values[-1] not in labels:
            raise ValueError(INVALID_CHOICE)
        condition = table.c[attribute] == labels[values[-1]]
        return negated(condition) if lookup else condition

    number_filter = filters.custom(f"{attribute}_id", by_number, multiple=False, suffixes=("n",))
    return [content_type_parameter(attribute, unknown_is_empty=unknown_is_empty), number_filter]


def referenced_objects(
    uow: UnitOfWork, drafts: Sequence[Draft], type_: str, key: str
) -> list[tuple[Draft, Endpoint, dict[str, Any]]]:
    """Returns the objects of generic references in nested form: one statement for each content type.

    Drafts whose object is missing, or hidden from the user, are rejected and left out. An unchanged reference to a
    hidden object is accepted.

    :param type_: name of the column with the content type
    :param key: name of the column with the object's id
    """
    objects: list[tuple[Draft, Endpoint, dict[str, Any]]] = []
    for label in sorted({draft[type_] for draft in drafts}):
        group = [draft for draft in drafts if draft[type_] == label]
        endpoint = uow.registry.get(label)
        nested: dict[Any, dict[str, Any]] = {}
        if endpoint is not None:
            unchanged = [draft[key] for draft in group if not draft.changed(type_, key)]
            limits = permissions.visible(uow, endpoint, endpoint.table)
            limits = [sa.or_(*limits, endpoint.table.c.id.in_(unchanged))] if limits else []
            nested = dict(plan_of(endpoint, "nested").fetch(uow, [draft[key] for draft in group], limits))
        for draft in group:
            if endpoint is not None and draft[key] in nested:
                objects.append((draft, endpoint, nested[draft[key]]))
            else:
                draft.reject(key, message(NO_SUCH_ID, endpoint, draft[key]))
    return objects


def generic_reference(type_: str, key: str) -> Rule:
    """Builds the rule that a generic reference names an existing object that the user may view.

    One statement for each content type, none for unchanged references.

    :param type_: name of the column with the content type
    :param key: name of the column with the object's id
    """

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects a reference to an object that does not exist, or of a content type that is not allowed."""
        changed: dict[str, list[Draft]] = {}
        for draft in drafts:
            if (draft[type_] is None) != (draft[key] is None):
                draft.reject(ALL, f"{type_} and {key} must either both be null or both be non-null")
            elif draft[key] is not None and draft.changed(type_, key):
                changed.setdefault(draft[type_], []).append(draft)
        for label, group in sorted(changed.items()):
            viewable = _viewable(uow, label, {draft[key] for draft in group})
            for draft in group:
                if draft[key] not in viewable:
                    draft.reject(key, message(NO_SUCH_ID, uow.registry.get(label), draft[key]))

    return rule


def used_types_stay(usage: Callable[[Registry, str], Any]) -> Rule:
    """Builds the rule that the field ``content_types`` keeps each type of which an object uses the one that lists it.

    :param usage: returns the SELECT of the ids that objects of a content type use, among the parameter ``keys``, or
        None where objects of the type use none
    """

    def rule(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        """Rejects removing a content type that is in use. Two statements."""
        listing_types = {draft.id: draft for draft in drafts if not draft.new and "content_types" in draft.many}
        if not listing_types:
            return
        keys = list(listing_types)
        field = drafts[0].endpoint.writable["content_types"]
        assert isinstance(field, fields.ContentTypeList)
        stored = field.stored_lists(uow, keys)
        removed = {
            key: set(stored.get(key, ())) - set(draft.many["content_types"]) for key, draft in listing_types.items()
        }
        selects = {label: usage(uow.registry, label) for label in sorted(set().union(*removed.values()))}
        parts = [
            select.add_columns(sa.literal(label).label("content_type"))
            for label, select in selects.items()
            if select is not None
        ]
        rows = uow.execute(sa.union_all(*parts), {"keys": keys}).tuples() if parts else ()
        for key, label in sorted(set(rows), key=str):
            if label in removed[key]:
                listing_types[key].reject("content_types", f"Unable to remove {label}. Dependent objects were found.")

    return rule


def _viewable(uow: UnitOfWork, label: str, keys: set[Any]) -> set[Any]:
    """Returns the ids of existing objects that the user may view; locks them until the transaction ends."""
    endpoint = uow.registry.get(label)
    if endpoint is None:
        return set()
    pending = keys & uow.new_drafts.get(endpoint.table, {}).keys()
    missing = keys - pending
    try:
        return pending | listing.rows(uow, endpoint, list(missing), "view", locked=True).keys() if missing else pending
    except Denied:
        return pending


def content_type_choice(attribute: str, allowed: Callable[[Endpoint], bool]) -> filters.Filter:
    """Query parameter for a column of labels of ``allowed`` types: by the numeric id, or by ``app.model``."""

    def by_key(uow: UnitOfWork, table: Any, values: list[str], lookup: str) -> Any:
        registry, value = uow.registry, values[-1].lower()
        label = next((item.label for item in registry.content_types.values() if str(item.id) == value), value)
        endpoint = registry.get(label)
        if endpoint is None or not allowed(endpoint):
            raise ValueError(INVALID_CHOICE)
        condition = table.c[attribute] == label
        return negated(condition) if lookup else condition

    return filters.custom(attribute, by_key, multiple=False, suffixes=("n",))


@dataclasses.dataclass(eq=False, kw_only=True)
class TypeLabel(fields.Value):
    """Column with the label of an ``allowed`` content type. OPTIONS lists the choices if ``offered`` is true."""

    registry: Registry
    allowed: Callable[[Endpoint], bool]
    kind: str = "field"
    offered: bool = True

    def accept(self, draft: Draft, value: Any) -> None:
        if value == "":
            value = None
        if not self._check_null(value):
            if not isinstance(value, str) or value.count(".") != 1:
                raise colander.Invalid(None, "Invalid value. Specify a content type as '<app_label>.<model_name>'.")
            endpoint = self.registry.get(value)
            if endpoint is None or not self.allowed(endpoint):
                raise colander.Invalid(None, f"Invalid content type: {value}")
        draft.values[self.attribute] = value

    def object_data(self, value: Any) -> Any:
        content_type = self.registry.content_type(value)
        return content_type.id if content_type is not None else value

    def labels(self) -> list[str]:
        """Returns the labels of the allowed content types."""
        return sorted(label for label, endpoint in self.registry.endpoints.items() if self.allowed(endpoint))

    def options(self) -> dict[str, Any]:
        labels = self.labels() if self.offered else []
        choices = [{"value": label, "display": name_of(self.registry, label)} for label in labels]
        return super().options() | ({"choices": choices} if choices else {})

    def written_schema(self) -> dict[str, Any]:
        return self._described({"type": "string", "enum": self.labels()})


def has_pages(endpoint: Endpoint) -> bool:
    """True for endpoints whose objects have a page of their own in a user interface."""
    return issubclass(endpoint.model, Organizational)


def type_label(name: str, allowed: Callable[[Endpoint], bool], *, offered: bool = True) -> FieldFactory:
    """Field for a column that holds the label of a content type."""

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        column = endpoint.table.c[name]
        return TypeLabel(
            name=name,
            attribute=name,
            registry=registry,
            allowed=allowed,
            offered=offered,
            openapi={"type": "string"},
            info=column_info(column),
            nullable=bool(column.nullable),
            required=not column.nullable,
        )

    return FieldFactory(name, make)


def _display(registry: Registry, endpoint: Endpoint) -> Field:
    def display_name(app_label: str, model: str) -> str:
        return name_of(registry, f"{app_label}.{model}")

    paths = ("app_label", "model")
    return fields.Computed(name="display", function=display_name, paths=paths, openapi={"type": "string"})


def _name_in_context(registry: Registry) -> Any:
    """The name of a content type on pages: that of its model."""
    return lambda app, model: title_of_type(registry, f"{app}.{model}"), "app_label", "model"


def _column(name: str) -> FieldFactory:
    def make(registry: Registry, endpoint: Endpoint) -> Field:
        return fields.Value(name=name, attribute=name, read_only=True, kind="string", openapi={"type": "string"})

    return FieldFactory(name, make)


content_types: Resource = Resource(
    ContentTypeRow,
    "content-types",
    label="contenttypes.contenttype",
    title="content type",
    display=(None,),
    brief=[],
    order=["app_label", "model"],
    natural="model",
    search=["app_label", "model"],
    fields=[FieldFactory("display", _display), _column("app_label"), _column("model")],
    presentation=Presentation(name_in_context=_name_in_context),
    writable=False,
    recorded=False,
)
