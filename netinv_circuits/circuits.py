"""Circuits and circuit types. A circuit has at most two terminations, A and Z."""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped, mapped_column

from netinv_circuits.providers import Provider
from netinv_core import fields as kinds
from netinv_core.models.associations import unique_set
from netinv_core.models.base import Organizational, Primary
from netinv_core.models.columns import (
    PROTECT,
    SET_NULL,
    Comments,
    Description,
    Name,
    Ref,
    Slug,
    column,
    column_info,
    foreign_key,
    integer,
    required_text,
)
from netinv_core.presentation import Presentation
from netinv_core.read.filters import related, tree, tree_pair, value
from netinv_core.resource import FieldFactory, Resource
from netinv_core.sql import lookups
from netinv_core.sql.plan import Row
from netinv_core.units import KBPS
from netinv_extras.statuses import status
from netinv_tenancy.tenants import Tenant, tenant_filters

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, RowSet

TERMINATION = "circuits.circuittermination"
MAX_RATE = 2**31 - 1


class CircuitType(Organizational):
    """A kind of circuits by purpose: transit, MPLS, an out-of-band line."""

    __tablename__ = "circuits_circuit_type"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    description: Mapped[Description]


class Circuit(Primary):
    """A line from a provider, known by the provider's own id.

    The terminations of its two sides are kept by :mod:`netinv_circuits.terminations`.
    """

    __tablename__ = "circuits_circuit"
    __table_args__ = (unique_set("provider_id", "cid"),)

    cid: Mapped[str] = required_text(100, label="Circuit ID")
    provider_id: Mapped[Ref] = foreign_key(
        Provider, on_delete=PROTECT, related_name="circuits", count_field="circuit_count"
    )
    type_id: Mapped[Ref] = foreign_key(
        CircuitType, on_delete=PROTECT, related_name="circuits", count_field="circuit_count"
    )
    status_id: Mapped[Ref] = status(
        initial=["Active", "Decommissioned", "Deprovisioning", "Offline", "Planned", "Provisioning"]
    )
    tenant_id: Mapped[Ref | None] = foreign_key(
        Tenant, on_delete=PROTECT, related_name="circuits", count_field="circuit_count"
    )
    install_date: Mapped[datetime.date | None] = column(default=None, label="Date installed")
    commit_rate: Mapped[int | None] = integer(0, MAX_RATE, label="Commit rate", unit=KBPS)
    description: Mapped[Description]
    termination_a_id: Mapped[Ref | None] = foreign_key(TERMINATION, on_delete=SET_NULL, read_only=True)
    termination_z_id: Mapped[Ref | None] = foreign_key(TERMINATION, on_delete=SET_NULL, read_only=True)
    comments: Mapped[Comments]


@dataclasses.dataclass(eq=False, kw_only=True)
class TerminationSide(kinds.Reference):
    """Read-only field of a circuit with one of its terminations as a nested object, or ``None``.

    :ivar nested_fields: names of the termination's fields in the nested object; the circuit is not one of them
    """

    nested_fields: tuple[str, ...] = (
        "display",
        "id",
        "url",
        "site",
        "location",
        "provider_network",
        "connected_endpoint",
        "port_speed",
        "upstream_speed",
        "xconnect_id",
        "created",
        "last_updated",
        "notes_url",
    )

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        present = plan.column(place, self.attribute)
        joined = plan.join(place, self.attribute)
        assert joined is not None
        fields = joined.endpoint.fields
        readers = [(name, fields[name].reader(plan, joined)) for name in self.nested_fields if name in fields]

        def read(row: Row, page: RowSet) -> dict[str, Any] | None:
            return None if row[present] is None else {name: reader(row, page) for name, reader in readers}

        return read

    def schema(self) -> dict[str, Any]:
        target = self.target
        assert target is not None
        properties = {name: target.fields[name].schema() for name in self.nested_fields if name in target.fields}
        return self._described({"type": "object", "properties": properties})


def _side(name: str) -> FieldFactory:
    """Returns the factory of the field of one termination, ``termination_a`` or ``termination_z``."""

    def make(registry: Registry, endpoint: Endpoint) -> Field:
        link = column_info(endpoint.table.c[f"{name}_id"]).foreign_key
        assert link is not None
        return TerminationSide(
            name=name, attribute=f"{name}_id", link=link, registry=registry, read_only=True, nullable=True
        )

    return FieldFactory(name, make)


circuit_types = Resource(
    CircuitType,
    "circuit-types",
    brief=["name", "slug", "circuit_count"],
    search=["name", "slug", "description"],
)

circuits = Resource(
    Circuit,
    "circuits",
    display="cid",
    brief=["cid"],
    order=["provider.name", "cid"],
    natural="cid",
    search=[
        "cid",
        "terminations.xconnect_id",
        "terminations.pp_info",
        "terminations.description",
        "description",
        "comments",
    ],
    fields=[_side("termination_a"), _side("termination_z")],
    filters=[
        *tenant_filters(),
        value("install_date", lookup_names=lookups.NUMBER),
        related("provider_network_id", "terminations.provider_network", by=()),
        related("site_id", "terminations.site", by=()),
        related("site", "terminations.site"),
        tree("location", "terminations.location"),
        *tree_pair("region", "terminations.site.region"),
    ],
    presentation=Presentation(
        counted=True,
        columns=["provider", "type", "status", "tenant", "termination_a", "termination_z", "commit_rate"],
        facets=["status", "provider", "type", "tenant"],
        leading=["trace"],
    ),
)
