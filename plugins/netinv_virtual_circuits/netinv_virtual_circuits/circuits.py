"""Virtual circuits across the network of a provider, their types, and the interfaces that they end at."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Mapped, mapped_column

from netinv_circuits.providers import ProviderNetwork
from netinv_core import (
    CASCADE,
    PROTECT,
    Choices,
    Comments,
    Description,
    Draft,
    Name,
    Organizational,
    Presentation,
    Primary,
    Ref,
    Resource,
    Slug,
    UnitOfWork,
    choice,
    color,
    foreign_key,
    listing,
    required_text,
    through,
    unique_set,
)
from netinv_dcim.components.interfaces import Interface
from netinv_extras.statuses import status
from netinv_provider_accounts.accounts import ProviderAccount
from netinv_tenancy.tenants import Tenant, tenant_filters

ROLES = Choices.of(peer="Peer", hub="Hub", spoke="Spoke")
VIRTUAL = ("virtual", "bridge", "lag")  # types of interfaces
CIRCUIT, TERMINATION = "virtual_circuits.virtualcircuit", "virtual_circuits.virtualcircuittermination"


class VirtualCircuitType(Organizational):
    """A kind of virtual circuits by purpose or technology: EVPL, VXLAN, a private cloud connection."""

    __tablename__ = "virtual_circuits_type"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    color: Mapped[str] = color()
    description: Mapped[Description]


class VirtualCircuit(Primary):
    """A connection of two or more interfaces that a provider makes within its network."""

    __tablename__ = "virtual_circuits_circuit"
    __table_args__ = (unique_set("provider_network_id", "cid"),)

    cid: Mapped[str] = required_text(100, label="Circuit ID")
    provider_network_id: Mapped[Ref] = foreign_key(
        ProviderNetwork, on_delete=PROTECT, related_name="virtual_circuits", index=False
    )
    provider_account_id: Mapped[Ref | None] = foreign_key(
        ProviderAccount, on_delete=PROTECT, related_name="virtual_circuits"
    )
    type_id: Mapped[Ref] = foreign_key(VirtualCircuitType, on_delete=PROTECT, related_name="virtual_circuits")
    status_id: Mapped[Ref] = status(
        initial=["Active", "Decommissioned", "Deprovisioning", "Offline", "Planned", "Provisioning"]
    )
    tenant_id: Mapped[Ref | None] = foreign_key(Tenant, on_delete=PROTECT, related_name="virtual_circuits")
    description: Mapped[Description]
    comments: Mapped[Comments]


class VirtualCircuitTermination(Primary):
    """A virtual interface that a virtual circuit ends at. An interface is an end of one circuit at most."""

    __tablename__ = "virtual_circuits_termination"

    virtual_circuit_id: Mapped[Ref] = foreign_key(VirtualCircuit, on_delete=CASCADE, related_name="terminations")
    role: Mapped[str] = choice(ROLES, default="peer")
    interface_id: Mapped[Ref] = foreign_key(
        Interface, on_delete=CASCADE, unique=True, related_name="virtual_circuit_termination"
    )
    description: Mapped[Description]


def termination_display(circuit: str, role: str) -> str:
    """The display name: ``EVC-4711 (Hub)``."""
    return f"{circuit} ({ROLES.labels.get(role, role)})"


virtual_circuit_types = Resource(
    VirtualCircuitType,
    "virtual-circuit-types",
    brief=["name", "slug"],
    search=["name", "slug", "description"],
    presentation=Presentation(icon="arrows-right-left", columns=["color", "description"]),
)

virtual_circuits = Resource(
    VirtualCircuit,
    "virtual-circuits",
    display="cid",
    brief=["cid"],
    order=["provider_network.name", "cid"],
    search=["cid", "description", "comments", "provider_network.name"],
    filters=[*tenant_filters()],
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["provider_network", "provider_account", "type", "status", "tenant", "description"],
        facets=["provider_network", "type", "status", "tenant"],
        fieldsets=[
            ("Virtual circuit", ["cid", "provider_network", "provider_account", "type", "status", "description"]),
            ("Belonging", ["tenant"]),
        ],
    ),
)

virtual_circuit_terminations = Resource(
    VirtualCircuitTermination,
    "virtual-circuit-terminations",
    display=(termination_display, "virtual_circuit.cid", "role"),
    brief=["virtual_circuit", "role", "interface"],
    order=["virtual_circuit.cid", "role"],
    search=["virtual_circuit.cid", "description", "interface.name"],
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["virtual_circuit", "role", "interface", "description"],
        facets=["role"],
        fieldsets=[("Virtual circuit termination", ["virtual_circuit", "role", "interface", "description"])],
    ),
)


@virtual_circuits.rule(
    changing=["provider_network_id", "provider_account_id"],
    reads=[through("provider_network", "provider_id"), through("provider_account", "provider_id")],
)
def accounts_are_with_the_provider(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects an account with another provider than that of the network; two statements."""
    accounts = listing.rows_of(uow, ProviderAccount, [draft["provider_account_id"] for draft in drafts])
    networks = listing.rows_of(uow, ProviderNetwork, [draft["provider_network_id"] for draft in drafts])
    for draft in drafts:
        account, network = accounts.get(draft["provider_account_id"]), networks[draft["provider_network_id"]]
        if account is not None and account.provider_id != network.provider_id:
            draft.reject("provider_account", "The account must be with the provider of the network.")


@virtual_circuit_terminations.rule(changing=["interface_id"], reads=[through("interface", "type")])
def ends_are_virtual_interfaces(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects ends at interfaces that are not virtual; one statement."""
    interfaces = listing.rows_of(uow, Interface, [draft["interface_id"] for draft in drafts])
    for draft in drafts:
        if interfaces[draft["interface_id"]].type not in VIRTUAL:
            draft.reject("interface", "A virtual circuit ends at virtual interfaces only: virtual, bridge or LAG.")
