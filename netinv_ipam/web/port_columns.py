"""Columns of tables of interfaces: their addresses, and the VLANs they carry. Each takes one statement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import sqlalchemy as sa
from markupsafe import Markup, escape

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.hookspecs import hookimpl
from netinv_core.http.mount import url_of
from netinv_core.models.base import table_of
from netinv_core.sql.plan import Row
from netinv_ipam.addresses import ASSIGNABLE, IPAddress
from netinv_ipam.vlans import VLAN
from netinv_ipam.vrfs import VRF
from netinv_web.cells import CellReader
from netinv_web.lists.columns import ListColumn
from netinv_web.markup import EMPTY, link, without_controls
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

ADDRESS, VLAN_LABEL, VRF_LABEL = "ipam.ipaddress", "ipam.vlan", "ipam.vrf"
MAX_SHOWN = 3  # addresses in a cell
MAX_VLANS = 6
MORE = Markup('%s <span class="more">+%d</span>')
NUMBER = Markup('<a href="%s" title="%s">%s</a>')
IN_VRF = Markup('%s <span class="way">%s</span>')
UNTAGGED, TAGGED = "untagged_vlan", "tagged_vlans"

T = TypeVar("T")


@hookimpl
def netinv_web_columns(endpoint: Endpoint) -> list[ListColumn]:
    """The columns of a resource whose objects have addresses."""
    if endpoint.label not in ASSIGNABLE:
        return []
    of_fields = [
        ListColumn(UNTAGGED, "Untagged", read_untagged, (VLAN_LABEL, "view"), labelled=True),
        ListColumn(TAGGED, "Tagged", read_tagged, (VLAN_LABEL, "view"), wraps=True, labelled=True),
    ]
    return [  # other resources of the model, such as interface connections, lack the fields
        ListColumn("addresses", "Addresses", addresses, (ADDRESS, "view"), wraps=True),
        *(column for column in of_fields if column.name in endpoint.fields),
    ]


def _several(items: Sequence[Markup], most: int) -> Markup:
    """The first of some markup, and the number of the rest."""
    shown = Markup(", ").join(items[:most])
    return MORE % (shown, len(items) - most) if len(items) > most else shown


def _by_owner(rows: Iterable[tuple[Any, T]]) -> dict[Any, list[T]]:
    items: dict[Any, list[T]] = {}
    for owner, item in rows:
        items.setdefault(owner, []).append(item)
    return items


def addresses(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the addresses of an interface. After those of a VRF is its name, once."""
    key, label = plan.column(place, "id"), place.endpoint.label

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Markup]:
        address, vrf = table_of(IPAddress), table_of(VRF)
        seen = sa.and_(sa.true(), *permissions.visible(uow, uow.registry[VRF_LABEL], vrf))
        statement = (
            sa.select(address.c.assigned_object_id, address.c.id, address.c.address, vrf.c.id, vrf.c.name, seen)
            .select_from(address.outerjoin(vrf, vrf.c.id == address.c.vrf_id))
            .where(
                in_parameter(address.c.assigned_object_id),
                address.c.assigned_object_type == label,
            )
            .order_by(address.c.ip_version, address.c.host, address.c.prefix_length)
        )
        limits = permissions.visible(uow, uow.registry[ADDRESS], address)
        found = uow.execute(statement, {"keys": [row[key] for row in rows]}, where=limits).tuples()
        owned = _by_owner((owner, tuple(values)) for owner, *values in found)
        return {owner: _addresses(uow, items) for owner, items in owned.items()}

    batch = plan.batch(load)
    return lambda row, page: page.batches[batch].get(row[key], EMPTY)


def _addresses(uow: UnitOfWork, found: Sequence[tuple[Any, str, Any, str | None, bool]]) -> Markup:
    """The links of addresses with the ids and names of their VRFs, and whether the user may view these."""
    following = [vrf for _, _, vrf, _, _ in found[1:MAX_SHOWN]]
    return _several(
        [
            _address(uow, *values)
            if place < len(following) and following[place] == values[2]
            else _in_vrf(uow, *values)
            for place, values in enumerate(found)
        ],
        MAX_SHOWN,
    )


def _in_vrf(uow: UnitOfWork, key: Any, text: str, vrf: Any, vrf_name: str | None, seen: bool) -> Markup:
    markup = _address(uow, key, text)
    if vrf is None:
        return markup
    path = object_path(uow.registry[VRF_LABEL], vrf) if seen else ""
    return IN_VRF % (markup, link(path, without_controls(str(vrf_name))))


def _address(uow: UnitOfWork, key: Any, text: str, *_vrf: Any) -> Markup:
    shown = escape(text).replace("::", Markup("::<wbr>"))  # the place where a long one continues on the next line
    return link(object_path(uow.registry[ADDRESS], key), shown)


def _vlan(uow: UnitOfWork, key: Any, vid: int, name: str) -> Markup:
    return link(object_path(uow.registry[VLAN_LABEL], key), without_controls(f"{vid} {name}"))


def _tagged_markup(uow: UnitOfWork, vlans: Sequence[tuple[Any, int, str]]) -> Markup:
    """The name of a single VLAN; several by their numbers, with their names as titles."""
    if len(vlans) == 1:
        return _vlan(uow, *vlans[0])
    paths = [url_of(object_path(uow.registry[VLAN_LABEL], key)) for key, _, _ in vlans]
    numbers = [
        NUMBER % (path, without_controls(f"{vid} {name}"), vid)
        for path, (_, vid, name) in zip(paths, vlans, strict=True)
    ]
    return _several(numbers, MAX_VLANS)


def read_untagged(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the number and the name of the untagged VLAN."""
    key, target = plan.column(place, "untagged_vlan_id"), plan.join(place, "untagged_vlan_id")
    assert target is not None
    vid, name = plan.column(target, "vid"), plan.column(target, "name")

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Any]:
        keys = [row[key] for row in rows if row[key] is not None]
        return dict.fromkeys(permissions.visible_ids(uow, target.endpoint, keys))

    batch = plan.batch(load)

    def read(row: Row, page: RowSet) -> Markup:
        return _vlan(page.uow, row[key], row[vid], row[name]) if row[key] in page.batches[batch] else EMPTY

    return read


def read_tagged(plan: ReadPlan, place: JoinedTable) -> CellReader:
    """The reader of cells with the tagged VLANs: numbers of the first, or number and name of a single one."""
    key, field = plan.column(place, "id"), place.endpoint.fields[TAGGED]
    assert isinstance(field, fields.ToMany)
    pairs = field.pairs

    def load(uow: UnitOfWork, rows: Sequence[Row]) -> dict[Any, Markup]:
        vlan = table_of(VLAN)
        statement = (
            sa.select(pairs.c.owner_id, vlan.c.id, vlan.c.vid, vlan.c.name)
            .select_from(pairs.join(vlan, vlan.c.id == pairs.c.target_id))
            .where(in_parameter(pairs.c.owner_id))
            .order_by(vlan.c.vid, vlan.c.name)
        )
        limits = permissions.visible(uow, uow.registry[VLAN_LABEL], vlan)
        found = uow.execute(statement, {"keys": [row[key] for row in rows]}, where=limits).tuples()
        owned = _by_owner((owner, tuple(values)) for owner, *values in found)
        return {owner: _tagged_markup(uow, items) for owner, items in owned.items()}

    batch = plan.batch(load)
    return lambda row, page: page.batches[batch].get(row[key], EMPTY)
