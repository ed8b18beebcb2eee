"""Front ports of one form onto rear ports: the positions of the chosen rear port in turn, then those of the next ones.

So ``F[1-24]`` on the first of 24 rear ports takes one position of each; on a rear port with 12 positions, twelve of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.hookspecs import hookimpl
from netinv_core.write.slugs import natural_key
from netinv_web.extensions import Spread

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

FIELDS = ("rear_port", "rear_port_position")
PARENTS = {"dcim.frontport": "device", "dcim.frontporttemplate": "device_type"}


@hookimpl
def netinv_web_spreads(endpoint: Endpoint) -> list[Spread]:
    """The spreads of a resource."""
    parent = PARENTS.get(endpoint.label)
    return [spread_of(endpoint, parent)] if parent is not None else []


def spread_of(endpoint: Endpoint, parent: str) -> Spread:
    """The spread of a resource of front ports; ``parent`` is the reference to their device or device type."""

    field: Any = endpoint.fields["rear_port"]
    rears_endpoint = field.target

    def spread(uow: UnitOfWork, bodies: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        first = bodies[0]
        key, position = first.get("rear_port"), str(first.get("rear_port_position") or 1)
        rears = _rear_ports(uow, rears_endpoint, parent, first.get(parent))
        start = next((number for number, rear in enumerate(rears) if str(rear.id) == str(key)), None)
        if start is None or not position.isdecimal() or len(position) > 9:
            return [dict(body) for body in bodies]  # the write says what is wrong
        places = list(itertools.islice(_places(rears[start:], max(1, int(position))), len(bodies)))
        if len(places) < len(bodies):
            text = f"There are {len(places)} positions from here on, for {len(bodies)} front ports."
            raise Invalid({"rear_port": [text]})
        return [
            {**body, "rear_port": str(rear.id), "rear_port_position": place}
            for body, (rear, place) in zip(bodies, places, strict=True)
        ]

    def shown(uow: UnitOfWork, bodies: Sequence[Mapping[str, Any]]) -> list[Sequence[str]]:
        rears = _rear_ports(uow, rears_endpoint, parent, bodies[0].get(parent))
        names = {str(rear.id): rear.name for rear in rears}
        return [[names.get(str(body.get("rear_port")), "–"), str(body.get("rear_port_position", 1))] for body in bodies]

    return Spread("rear ports", FIELDS, spread, shown)


def _rear_ports(uow: UnitOfWork, endpoint: Endpoint, parent: str, key: Any) -> list[Any]:
    """The rear ports of a device or device type that the user may view, in the order of their names."""
    parent_key = endpoint.parse_key(str(key)) if key is not None else None
    if parent_key is None:
        return []
    table = endpoint.table
    rows = uow.execute(
        sa.select(table.c.id, table.c.name, table.c.positions).where(
            table.c[f"{parent}_id"] == parent_key, *permissions.visible(uow, endpoint, table)
        )
    )
    return sorted(rows, key=lambda row: natural_key(row.name))


def _places(rears: Sequence[Any], position: int) -> Iterator[tuple[Any, int]]:
    """The positions of rear ports in turn, from ``position`` of the first on."""
    for rear in rears:
        for place in range(position, rear.positions + 1):
            yield rear, place
        position = 1
