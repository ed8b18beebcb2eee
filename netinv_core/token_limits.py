"""Fields of the limits of a token beyond those of its user: networks of clients, actions, object types.

The fields are shown where ``include`` names them, because the reference API does not have them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import fields
from netinv_core.models.columns import column_info
from netinv_core.net import addresses
from netinv_core.resource import FieldFactory

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.write.draft import Draft

MAX_ITEMS = 200  # of each list
NETWORKS_HELP = "Networks (CIDR) and addresses from which the token is accepted; empty for all."
ACTIONS_HELP = "Actions that the token is limited to, of those that its user may, such as view, add; empty for all."
TYPES_HELP = "Object types, by their labels, that the token is limited to, of those of its user; empty for all."


@dataclasses.dataclass(eq=False, kw_only=True)
class LimitList(fields.ListValue):
    """Field of a list that limits a token; an empty list is stored as null."""

    kind: str = "list"
    nullable: bool = True
    opt_in: bool = True
    own: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: row[index] or []

    def accept(self, draft: Draft, value: Any) -> None:
        super().accept(draft, [] if value is None else value)
        draft[self.attribute] = draft[self.attribute] or None

    def parse_items(self, items: list[Any]) -> list[Any]:
        if len(items) > MAX_ITEMS:
            raise colander.Invalid(None, f"Ensure this field has no more than {MAX_ITEMS} elements.")
        if not all(isinstance(item, str) for item in items):
            raise colander.Invalid(None, "Enter a list of strings.")
        return list(dict.fromkeys(self.parse_item(item.strip()) for item in items))

    def parse_item(self, item: str) -> str:
        """Parses an item.

        :raises colander.Invalid: for an invalid one
        """
        return item


class NetworkListField(LimitList):
    """Field of a list of networks, each in its shortest form."""

    def parse_item(self, item: str) -> str:
        try:
            return str(addresses.network(item))
        except ValueError:
            raise colander.Invalid(None, f"{item!r} is not a network such as 192.0.2.0/24 or 2001:db8::/64.") from None


@dataclasses.dataclass(eq=False, kw_only=True)
class Actions(LimitList):
    """Field of a list of actions."""

    registry: Registry

    def parse_item(self, item: str) -> str:
        if item not in self.registry.permitted_actions:
            raise colander.Invalid(None, f"{item!r} is not an action such as view, add, change or delete.")
        return item


@dataclasses.dataclass(eq=False, kw_only=True)
class ObjectTypes(LimitList):
    """Field of a list of labels of object types."""

    registry: Registry

    def parse_item(self, item: str) -> str:
        if self.registry.get(item) is None:
            raise colander.Invalid(None, f"{item!r} is not an object type of this service.")
        return item


def _field(name: str, kind: type[LimitList], text: str) -> FieldFactory:
    def make(registry: Any, endpoint: Any) -> Field:
        options = {} if kind is NetworkListField else {"registry": registry}
        shape = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_ITEMS}
        info = column_info(endpoint.table.c[name])
        return kind(name=name, attribute=name, info=info, help=text, openapi=shape, **options)

    return FieldFactory(name, make)


def _last_used(registry: Any, endpoint: Any) -> Field:
    column = endpoint.table.c.last_used
    field = fields.from_column(registry, "last_used", column, column_info(column))
    assert field is not None
    return dataclasses.replace(field, opt_in=True, own=True)


FIELDS = (
    _field("allowed_networks", NetworkListField, NETWORKS_HELP),
    _field("actions", Actions, ACTIONS_HELP),
    _field("object_types", ObjectTypes, TYPES_HELP),
    FieldFactory("last_used", _last_used),
)
