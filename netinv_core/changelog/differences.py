"""Differences of the representations in a change record, field by field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields import ContentTypeList, Image, ToMany
from netinv_core.fields.base import text_of
from netinv_core.fields.images import MEDIA

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

Representation = Mapping[str, Any]
# Members of every representation that say nothing about the object itself.
NOT_COMPARED = frozenset({"id", "url", "display", "created", "last_updated"})


@dataclasses.dataclass(frozen=True)
class FieldDifference:
    """A field with its value before and after a change, as represented and as text.

    ``field`` is the name of the field; of a field with members of its own, such as custom fields, ``field.member``.
    """

    field: str
    label: str
    before: Any
    after: Any
    before_text: str
    after_text: str


def differences(registry: Registry, label: str, before: Any, after: Any) -> list[FieldDifference]:
    """Returns the fields that differ between two representations of an object, in the order of its resource.

    Computed fields are left out. A missing representation, that of an object before its creation or after its deletion,
    has no values.

    :param label: the content type of the object; its package may be missing
    """
    endpoint = registry.get(label)
    old, new = members(endpoint, before), members(endpoint, after)
    names = [name for name in {**old, **new} if is_own(endpoint, name)]
    return [
        _difference(endpoint, name, old.get(name), new.get(name))
        for name in names
        if not is_equal(endpoint, name, old.get(name), new.get(name))
        and (old.get(name) or new.get(name)) not in (None, "", [])
    ]


def members(endpoint: Endpoint | None, representation: Representation | None) -> dict[str, Any]:
    """Returns the values of a representation by name; fields that merge values are divided (``field.member``)."""
    values: dict[str, Any] = {}
    for name, value in (representation or {}).items():
        field = None if endpoint is None else endpoint.fields.get(name)
        if field is not None and field.merges and isinstance(value, dict):
            values |= {f"{name}.{member}": item for member, item in value.items()}
        else:
            values[name] = value
    return values


def field_of(endpoint: Endpoint | None, name: str) -> Field | None:
    """Returns the field that a name of :func:`members` belongs to."""
    return None if endpoint is None else endpoint.fields.get(name.partition(".")[0])


def is_equal(endpoint: Endpoint | None, name: str, before: Any, after: Any) -> bool:
    """True when an earlier and a later value of a member are equal: references by id, choices by value, lists in any
    order.
    """
    field = field_of(endpoint, name)
    if field is not None and "." not in name:
        before, after = field.compared(before, after)
    return _are_same(_comparable(field, name, before), _comparable(field, name, after))


def comparable(endpoint: Endpoint | None, name: str, value: Any) -> Any:
    """The value of a member in the form in which values are compared: references as ids, choices as values."""
    return _comparable(field_of(endpoint, name), name, value)


def _comparable(field: Field | None, name: str, value: Any) -> Any:
    if value is None or field is None or "." in name:
        return value
    if isinstance(field, Image):
        return value.rpartition(MEDIA)[2]
    body = field.to_body(value)
    is_list = isinstance(field, ToMany | ContentTypeList) and isinstance(body, list)
    return sorted(body, key=str) if is_list else body


def _are_same(before: Any, after: Any) -> bool:
    """Compares values, nested objects in them by their ids: their names may change without a change of this object.

    Ends at the first difference: copies of a large document would take a tenth of a second for each change.
    """
    if before == after:
        return True
    if isinstance(before, list) and isinstance(after, list):
        pairs = zip(before, after, strict=False)
        return len(before) == len(after) and all(_are_same(_id_or_value(old), _id_or_value(new)) for old, new in pairs)
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(
            _are_same(_id_or_value(before[name]), _id_or_value(after[name])) for name in before
        )
    return False


def _id_or_value(value: Any) -> Any:
    return value["id"] if _is_nested(value) else value


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) and {"id", "url", "display"} <= value.keys()


def is_own(endpoint: Endpoint | None, name: str) -> bool:
    """True for what an object has itself: fields that can be written, and columns."""
    if name in NOT_COMPARED:
        return False
    field = field_of(endpoint, name)
    if endpoint is None or field is None:
        return endpoint is None
    return not field.read_only or (field.attribute is not None and field.attribute in endpoint.table.c)


def _difference(endpoint: Endpoint | None, name: str, before: Any, after: Any) -> FieldDifference:
    field, (outer, _, member) = field_of(endpoint, name), name.partition(".")
    label = (None if field is None or member else field.label) or (member or outer).replace("_", " ").capitalize()
    text = text_of if field is None or member else field.text
    return FieldDifference(name, label, before, after, text(before), text(after))
