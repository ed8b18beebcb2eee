"""Virtual routing and forwarding tables, and the route targets they exchange routes by (RFC 4364)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.columns import Chars
from netinv_core.context import Context
from netinv_core.model import PROTECT, Description, Name, Primary, Ref, column, many_to_many, required_text, switch, to
from netinv_core.read.filters import Filter, key, special
from netinv_core.read.names import Names, ids_of
from netinv_core.resource import Resource, many
from netinv_tenancy.tenants import Tenant, tenant_filters


class RouteTarget(Primary):
    """An extended community that marks routes for import into VRFs."""

    __tablename__ = "ipam_route_target"

    name: Mapped[str] = required_text(21, "Route target value (formatted in accordance with RFC 4360)", unique=True)
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT)
    description: Mapped[Description]


class VRF(Primary):
    """A separate routing table, within which addresses may be unique."""

    __tablename__ = "ipam_vrf"

    name: Mapped[Name]
    rd: Mapped[str | None] = column(
        Chars(21),
        default=None,
        unique=True,
        blank=True,
        label="Route distinguisher",
        help="Unique route distinguisher (as defined in RFC 4364)",
    )
    tenant_id: Mapped[Ref | None] = to(Tenant, on_delete=PROTECT, count="vrf_count")
    enforce_unique: Mapped[bool] = switch(True, "Prevent duplicate prefixes/IP addresses within this VRF", label="Enforce unique space")
    description: Mapped[Description]


import_targets = many_to_many("ipam_vrf_import_target", "ipam_vrf", "ipam_route_target")
export_targets = many_to_many("ipam_vrf_export_target", "ipam_vrf", "ipam_route_target")


def vrf_display(name: str, rd: str | None) -> str:
    """The name, with the route distinguisher when there is one."""
    return f"{name} ({rd})" if rd else name


route_targets = Resource(
    RouteTarget,
    "route-targets",
    title="route target",
    natural="name",
    search=["name", "description"],
    filters=[
        *tenant_filters(),
        key("importing_vrf", "importing_vrfs"),
        key("importing_vrf_id", "importing_vrfs", by=()),
        key("exporting_vrf", "exporting_vrfs"),
        key("exporting_vrf_id", "exporting_vrfs", by=()),
    ],
)

vrfs = Resource(
    VRF,
    "vrfs",
    title="VRF",
    display=(vrf_display, "name", "rd"),
    brief=["name", "rd", "prefix_count"],
    order=["name", "rd"],
    natural="rd",
    search=["name", "rd", "description"],
    fields=[
        many("import_targets", import_targets, "ipam.routetarget", plain=True, back="importing_vrfs"),
        many("export_targets", export_targets, "ipam.routetarget", plain=True, back="exporting_vrfs"),
    ],
    filters=[
        *tenant_filters(),
        key("import_target", "import_targets"),
        key("import_target_id", "import_targets", by=()),
        key("export_target", "export_targets"),
        key("export_target_id", "export_targets", by=()),
    ],
)


def _present(table: Any, keys: Any) -> Any:
    """The object is in one of the VRFs, or in one that exports a route target which they import."""
    wanted = sa.select(import_targets.c.target_id).where(import_targets.c.owner_id.in_(keys))
    exporting = sa.select(export_targets.c.owner_id).where(export_targets.c.target_id.in_(wanted))
    return sa.or_(table.c.vrf_id.in_(keys), table.c.vrf_id.in_(exporting))


def present_filters() -> list[Filter]:
    """The parameters ``present_in_vrf`` (by route distinguisher) and ``present_in_vrf_id``."""

    def by(name: str, *columns: str) -> Any:
        def apply(context: Context, table: Any, values: list[str]) -> Any:
            here = context.registry.of_model(VRF)
            return _present(table, ids_of(context, Names(name, here, tuple(values), columns, ids=not columns, multiple=False))[0])

        return special(name, apply, multiple=False)

    return [by("present_in_vrf", "rd"), by("present_in_vrf_id")]
