"""Virtual routing and forwarding tables (VRFs), and the route targets by which they exchange routes (RFC 4364)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.associations import many_to_many
from netinv_core.models.base import Primary
from netinv_core.models.columns import PROTECT, Description, Name, Ref, boolean, column, foreign_key, required_text
from netinv_core.models.types import Chars
from netinv_core.presentation import Presentation
from netinv_core.read.filters import custom, related
from netinv_core.read.name_lookup import NameQuery, ids_of
from netinv_core.resource import Resource, to_many
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.read.filters import Filter
    from netinv_core.uow import UnitOfWork


class RouteTarget(Primary):
    """An extended community that marks routes for import into VRFs."""

    __tablename__ = "ipam_route_target"

    name: Mapped[str] = required_text(21, "Route target value (formatted in accordance with RFC 4360)", unique=True)
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT)
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
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, count_field="vrf_count")
    enforce_unique: Mapped[bool] = boolean(
        True, "Prevent duplicate prefixes/IP addresses within this VRF", label="Enforce unique space"
    )
    description: Mapped[Description]


import_targets = many_to_many("ipam_vrf_import_target", "ipam_vrf", "ipam_route_target")
export_targets = many_to_many("ipam_vrf_export_target", "ipam_vrf", "ipam_route_target")


def vrf_display(name: str, rd: str | None) -> str:
    """The display name: the name, followed by the route distinguisher if there is one."""
    return f"{name} ({rd})" if rd else name


route_targets = Resource(
    RouteTarget,
    "route-targets",
    type_order="~2 ",
    title="route target",
    natural="name",
    search=["name", "description"],
    filters=[
        *tenant_filters(),
        related("importing_vrf", "importing_vrfs"),
        related("importing_vrf_id", "importing_vrfs", by=()),
        related("exporting_vrf", "exporting_vrfs"),
        related("exporting_vrf_id", "exporting_vrfs", by=()),
    ],
)

vrfs = Resource(
    VRF,
    "vrfs",
    type_order="~2 ",
    title="VRF",
    display=(vrf_display, "name", "rd"),
    brief=["name", "rd", "prefix_count"],
    order=["name", "rd"],
    natural="rd",
    search=["name", "rd", "description"],
    fields=[
        to_many("import_targets", import_targets, "ipam.routetarget", plain=True, related_name="importing_vrfs"),
        to_many("export_targets", export_targets, "ipam.routetarget", plain=True, related_name="exporting_vrfs"),
    ],
    filters=[
        *tenant_filters(),
        related("import_target", "import_targets"),
        related("import_target_id", "import_targets", by=()),
        related("export_target", "export_targets"),
        related("export_target_id", "export_targets", by=()),
    ],
    presentation=Presentation(
        columns=["rd", "utilization", "prefix_count", "ipaddress_count", "tenant", "enforce_unique", "description"],
        facets=["tenant"],
        unrelated=["vrf"],
    ),
)


def _present(table: Any, keys: Any) -> Any:
    """Condition for objects in one of the VRFs, or in a VRF that exports a route target which one of them imports."""
    imported = sa.select(import_targets.c.target_id).where(import_targets.c.owner_id.in_(keys))
    exporting = sa.select(export_targets.c.owner_id).where(export_targets.c.target_id.in_(imported))
    return sa.or_(table.c.vrf_id.in_(keys), table.c.vrf_id.in_(exporting))


def present_filters() -> list[Filter]:
    """The filters ``present_in_vrf`` (by route distinguisher) and ``present_in_vrf_id``."""

    def by(name: str, *columns: str) -> Any:
        def apply(uow: UnitOfWork, table: Any, values: list[str]) -> Any:
            endpoint = uow.registry.of_model(VRF)
            query = NameQuery(name, endpoint, tuple(values), columns, ids=not columns, multiple=False)
            return _present(table, ids_of(uow, query)[0])

        return custom(name, apply, multiple=False, listed=True)

    return [by("present_in_vrf", "rd"), by("present_in_vrf_id")]
