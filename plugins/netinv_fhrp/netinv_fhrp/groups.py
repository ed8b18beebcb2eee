"""First-hop redundancy groups, and the addresses that their members share."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Mapped

from netinv_core import (
    Choices,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Resource,
    UnitOfWork,
    choice,
    encrypted_text,
    integer,
    many_to_many,
    text,
    to_many,
)
from netinv_ipam.addresses import IPAddress

PROTOCOLS = Choices.of(
    vrrp2="VRRPv2", vrrp3="VRRPv3", carp="CARP", clusterxl="ClusterXL", hsrp="HSRP", glbp="GLBP", other="Other"
)
AUTHENTICATIONS = Choices.of(plaintext="Plaintext", md5="MD5")


class FHRPGroup(Primary):
    """Routers of which one answers for the shared addresses; ``group_id`` is the number that the protocol carries."""

    __tablename__ = "fhrp_group"

    name: Mapped[str] = text(100)
    protocol: Mapped[str] = choice(PROTOCOLS, blank=False)
    group_id: Mapped[int] = integer(0, 32767, "Number of the group in the protocol", label="Group ID")
    auth_type: Mapped[str] = choice(AUTHENTICATIONS, label="Authentication type")
    auth_key: Mapped[str] = encrypted_text(label="Authentication key")
    description: Mapped[Description]
    comments: Mapped[Comments]


def group_display(name: str, protocol: str, group_id: int) -> str:
    """The display name: ``Gateway (VRRPv3: 10)``, or ``VRRPv3: 10`` without a name."""
    number = f"{PROTOCOLS.labels.get(protocol, protocol)}: {group_id}"
    return f"{name} ({number})" if name else number


group_addresses = many_to_many("fhrp_group_address", FHRPGroup.__tablename__, IPAddress.__tablename__)

fhrp_groups = Resource(
    FHRPGroup,
    "fhrp-groups",
    title="FHRP group",
    plural="FHRP groups",
    display=(group_display, "name", "protocol", "group_id"),
    brief=["protocol", "group_id"],
    order=["protocol", "group_id", "name"],
    search=["name", "description", "comments"],
    fields=[to_many("ip_addresses", group_addresses, "ipam.ipaddress", related_name="fhrp_groups")],
    example={"protocol": "vrrp3"},
    presentation=Presentation(
        icon="arrow-path",
        columns=["protocol", "group_id", "ip_addresses", "auth_type", "description"],
        facets=["protocol", "auth_type"],
        fieldsets=[
            ("FHRP group", ["name", "protocol", "group_id", "ip_addresses", "description"]),
            ("Authentication", ["auth_type", "auth_key"]),
        ],
    ),
)


@fhrp_groups.rule(changing=["protocol"])
def a_protocol_is_named(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects groups without a protocol."""
    for draft in drafts:
        if not draft["protocol"]:
            draft.reject("protocol", "This field may not be blank.")
