"""Models of user-defined relationships between two content types, and of the associations of objects in them.

The ``relationships`` field of objects is in :mod:`netinv_extras.relationships.field`, the query parameters are in
:mod:`netinv_extras.relationships.filters`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Invalid
from netinv_core.models.base import Organizational
from netinv_core.models.columns import (
    Choices,
    Description,
    boolean,
    choice,
    column,
    json_document,
    required_text,
    slug,
    text,
)
from netinv_core.read import filters
from netinv_core.resource import Resource
from netinv_extras import saved_filters
from netinv_extras.content_types import type_label

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NAME = "relationships"
ONE_TO_ONE, ONE_TO_MANY, MANY_TO_MANY = "one-to-one", "one-to-many", "many-to-many"
SYMMETRIC = "symmetric-"
TYPES = Choices.of(
    (ONE_TO_ONE, "One to One"),
    (f"{SYMMETRIC}{ONE_TO_ONE}", "Symmetric One to One"),
    (ONE_TO_MANY, "One to Many"),
    (MANY_TO_MANY, "Many to Many"),
    (f"{SYMMETRIC}{MANY_TO_MANY}", "Symmetric Many to Many"),
)
SOURCE, DESTINATION = "source", "destination"
OPPOSITE = {SOURCE: DESTINATION, DESTINATION: SOURCE}
REQUIRED_ON = Choices.of(
    ("", "Neither side required"),
    (SOURCE, "Source objects MUST implement this relationship"),
    (DESTINATION, "Destination objects MUST implement this relationship"),
)
EXAMPLE_ENDS = {"source_type": "extras.secret", "destination_type": "extras.secretsgroup"}


class Relationship(Organizational):
    """A kind of link between objects of two content types, for example "circuit terminates at rack".

    Both are equal if symmetric.

    ``source_filter`` and ``destination_filter`` hold query parameters of the content type's list. Only objects that
    match them can be associated at that end.
    """

    __tablename__ = "extras_relationship"

    name: Mapped[str] = required_text(100, unique=True)
    slug: Mapped[str] = slug("name", slug_joint="_")
    description: Mapped[Description]
    type: Mapped[str] = choice(TYPES, default=MANY_TO_MANY, plain=True, blank=False)
    required_on: Mapped[str] = choice(REQUIRED_ON, 12, default="", plain=True)
    source_type: Mapped[str] = column(length=100)
    source_label: Mapped[str] = text(
        50, "Label for related destination objects, as displayed on the source object.", label="Source Label"
    )
    source_hidden: Mapped[bool] = boolean(
        False, "Hide this relationship on the source object.", label="Hide for source object"
    )
    source_filter: Mapped[Any | None] = json_document(
        "Filterset filter matching the applicable source objects of the selected type"
    )
    destination_type: Mapped[str] = column(length=100)
    destination_label: Mapped[str] = text(
        50, "Label for related source objects, as displayed on the destination object.", label="Destination Label"
    )
    destination_hidden: Mapped[bool] = boolean(
        False, "Hide this relationship on the destination object.", label="Hide for destination object"
    )
    destination_filter: Mapped[Any | None] = json_document(
        "Filterset filter matching the applicable destination objects of the selected type"
    )
    advanced_ui: Mapped[bool] = boolean(False, hidden=True, in_object_data=True)


def may_relate(endpoint: Endpoint) -> bool:
    """Returns true if objects of the endpoint have relationships."""
    return issubclass(endpoint.model, Organizational) and NAME not in endpoint.resource.omit


def content_type_filters(*names: str) -> list[filters.Filter]:
    """Returns query parameters for columns of content types; a value is a label such as ``dcim.device``."""

    def parameter(name: str) -> filters.Filter:
        return filters.content_type(name, lambda endpoint, table, labels: table.c[name].in_(labels))

    return [parameter(name) for name in names]


relationships = Resource(
    Relationship,
    "relationships",
    display=(lambda name: name.replace("_", " "), "name"),
    name_attribute="name",
    brief=["name", "slug"],
    search=["name", "slug", "description"],
    fields=[type_label("source_type", may_relate), type_label("destination_type", may_relate)],
    omit=["custom_fields", "computed_fields", NAME],
    filters=[filters.one_of("type", TYPES, multiple=False), *content_type_filters("source_type", "destination_type")],
    configuration=True,
    example={**EXAMPLE_ENDS, "required_on": "", "source_filter": {}, "destination_filter": {}},
)


# -- rules of relationships


@relationships.rule
def symmetric_relationships_have_equal_ends(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Both ends of a symmetric relationship have the same type, label, visibility and filter; neither is required.

    A label or filter given for one end only is copied to the other.
    """
    for draft in drafts:
        if not draft["type"].startswith(SYMMETRIC):
            continue
        if draft["source_type"] != draft["destination_type"]:
            draft.reject("destination_type", "Must match source_type for a symmetric relationship")
        if draft["required_on"]:
            draft.reject("required_on", "Symmetric relationships cannot be marked as required.")
        for suffix in ("label", "hidden", "filter"):
            source, destination = draft[f"{SOURCE}_{suffix}"], draft[f"{DESTINATION}_{suffix}"]
            if source != destination and (suffix == "hidden" or (source and destination)):
                draft.reject(f"{DESTINATION}_{suffix}", f"Must match {SOURCE}_{suffix} for a symmetric relationship")
            draft[f"{SOURCE}_{suffix}"] = draft[f"{DESTINATION}_{suffix}"] = source or destination


@relationships.rule
def filters_are_valid_query_parameters(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A filter is an object of query parameters and values that the list of the end's content type accepts."""
    filtering: list[tuple[Draft, str, Endpoint]] = []
    for draft in drafts:
        for name, end in ((f"{end}_filter", end) for end in (SOURCE, DESTINATION)):
            if draft.changed(name, f"{end}_type") and draft[name] is not None:
                endpoint = uow.registry[draft[f"{end}_type"]]
                if isinstance(draft[name], dict):
                    filtering.append((draft, name, endpoint))
                else:
                    draft.reject(name, f"Filter for {endpoint.model_name} must be a dictionary")
    errors = saved_filters.validation_errors(uow, [(endpoint, draft[name]) for draft, name, endpoint in filtering])
    for (draft, name, endpoint), error in zip(filtering, errors, strict=True):
        for message in _filter_messages(error, endpoint):
            draft.reject(name, message)


def _filter_messages(error: Invalid | None, endpoint: Endpoint) -> list[str]:
    """Returns one message for each bad parameter of a filter."""
    messages_by_parameter: Mapping[str, list[str]] = error.body if error is not None else {}
    return [
        f"'{name}' is not a valid filter parameter for {endpoint.model_name} object"
        if messages == [filters.UNKNOWN]
        else f"'{name}': {messages[0]}"
        for name, messages in messages_by_parameter.items()
    ]


def matching_ids(uow: UnitOfWork, label: str, parameters: Mapping[str, Any], keys: Collection[Any]) -> set[Any]:
    """Returns the ids among ``keys`` of objects that match a filter, regardless of the user's permissions.

    A filter that is no longer valid matches nothing.
    """
    endpoint = uow.registry[label]
    try:
        condition = saved_filters.condition(uow.as_system(), endpoint, parameters)
    except Invalid:
        return set()
    key = endpoint.table.c.id
    statement = sa.select(key).where(in_parameter(key))
    statement = statement if condition is None else statement.where(condition)
    return set(uow.execute(statement, {"keys": list(keys)}).scalars())
