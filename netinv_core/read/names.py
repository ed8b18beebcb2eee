"""Names of objects on pages that do not show what they belong to: ``router1 › eth0``.

:attr:`netinv_core.presentation.Presentation.name_in_context` declares them; plans read them by the path
``name_in_context``. They show what the object's own representation shows, so objects that a user may not view have only
the name that the API gives everybody who sees a reference to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.labels import without_id
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN
from netinv_core.sql import plans
from netinv_core.sql.records import read_null

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, Row, RowSet
    from netinv_core.uow import UnitOfWork

Pair = tuple[Any, Any]
_ABSENT: Any = object()  # a value that a representation does not have


def names_in_context(uow: UnitOfWork, pairs: Iterable[Pair]) -> dict[Pair, str]:
    """The names in context by pairs of label and id, of the objects that the user may view; one statement."""
    visible = permissions.visible_for(uow)
    found = plans.named_objects(uow, NAME_IN_CONTEXT, pairs, visible)
    return {pair: str(item["display"]) for pair, item in found.items()}


def visible_pairs(uow: UnitOfWork, pairs: Iterable[Pair]) -> set[Pair]:
    """The pairs of label and id whose objects the user may view; one statement, none without constraints."""
    of_endpoints = [(uow.registry.get(label), (label, key)) for label, key in pairs]
    known = {(endpoint, pair) for endpoint, pair in of_endpoints if endpoint is not None}
    limited = {endpoint for endpoint, _ in known if permissions.visible(uow, endpoint, endpoint.table)}
    free = {pair for endpoint, pair in known if endpoint not in limited}
    return free | names_in_context(uow, [pair for endpoint, pair in known if endpoint in limited]).keys()


class ObjectLink(NamedTuple):
    """Link to an object: its URL, name, colour if it has one, and whether the user may view it.

    The name is that in context where the user may view the object, else the one that everybody sees.
    """

    url: str
    text: str
    color: str | None
    viewable: bool


def read_link(plan: ReadPlan, place: JoinedTable) -> Reader:
    """The reader of an :class:`ObjectLink` to the object at a place of a plan."""
    url, name, shown = (plan.read(place, path) for path in ("url", NAME_IN_CONTEXT, NAME_WITHIN))
    color = plan.read(place, "color") if "color" in place.table.c else read_null
    is_viewable = plan.meets(place, permissions.visible)

    def read(row: Row, page: RowSet) -> ObjectLink:
        viewable = is_viewable(row, page)
        text = str((name if viewable else shown)(row, page))
        return ObjectLink(url(row, page), text, color(row, page), viewable)

    return read


def object_links(uow: UnitOfWork, shape: str, pairs: Iterable[Pair]) -> dict[Any, Any]:
    """An :class:`ObjectLink` for each pair of label and id; one statement."""
    return plans.named_objects(uow, shape, pairs, plan=_link_plan)


def _link_plan(endpoint: Endpoint, shape: str) -> ReadPlan:
    return plans.custom_plan(endpoint, (shape,), read_link)


def represented_name(endpoint: Endpoint, representation: Mapping[str, Any]) -> str:
    """The name in context of an object, from a representation of it, such as the answer to a write or the state of a
    change record; no statement. It is the display name, without an id in it, where the representation lacks a part of
    the name.
    """
    naming = endpoint.namings[NAME_IN_CONTEXT]
    values = [_value(endpoint, representation, path) for path in getattr(naming, "paths", ())]
    if isinstance(naming, fields.Computed) and not any(value is _ABSENT for value in values):
        return str(naming.function(*values))
    return display_of(representation)


def display_of(representation: Mapping[str, Any]) -> str:
    """The display name of an object, without the id that those without a name have in it."""
    return without_id(str(representation.get("display") or representation.get("id", "")))


def recorded_name(endpoint: Endpoint | None, before: Any, after: Any, name: str) -> str:
    """The name in context of a changed object, from its state after the change, or the one before its deletion; the
    recorded ``name`` where its package is not installed.
    """
    state = after or before
    return represented_name(endpoint, state) if endpoint is not None and state else name


def _value(endpoint: Endpoint, representation: Mapping[str, Any], path: str) -> Any:
    """The value at a path of names, as :meth:`netinv_core.sql.plan.ReadPlan.read` reads it."""
    if path == NAME_WITHIN and endpoint.namings[path] is not endpoint.namings[NAME_IN_CONTEXT]:
        return display_of(representation)
    if path in (NAME_IN_CONTEXT, NAME_WITHIN):
        return represented_name(endpoint, representation)
    head, _, rest = path.partition(".")
    value = representation.get(head, _ABSENT)
    if value is None or value is _ABSENT or not isinstance(value, Mapping):
        return _ABSENT if rest and value is not None else value
    if not rest:
        return value.get("value", _ABSENT)
    target = _target(endpoint, representation, head)
    return _value(target, value, rest) if target is not None else value.get("display", _ABSENT)


def _target(endpoint: Endpoint, representation: Mapping[str, Any], name: str) -> Endpoint | None:
    """The resource of the object that a reference of a representation leads to."""
    field = endpoint.fields.get(name)
    if isinstance(field, fields.GenericForeignKey):
        return endpoint.registry.get(str(representation.get(field.type_attribute)))
    return field.target if isinstance(field, fields.Reference) else None
