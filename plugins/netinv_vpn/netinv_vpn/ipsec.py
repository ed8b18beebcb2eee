"""IPsec proposals, policies, and the profiles that tunnels use."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    PROTECT,
    Choices,
    Comments,
    Description,
    Draft,
    Name,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    choice,
    foreign_key,
    integer,
    many_to_many,
    to_many,
)
from netinv_vpn.ike import AUTHENTICATIONS, ENCRYPTIONS, GROUPS, IKEPolicy

MODES = Choices.of(esp="ESP", ah="AH")


class IPSecProposal(Primary):
    """Algorithms that an end offers for the packets of a tunnel."""

    __tablename__ = "vpn_ipsec_proposal"

    name: Mapped[Name] = mapped_column(unique=True)
    encryption_algorithm: Mapped[str] = choice(ENCRYPTIONS)
    authentication_algorithm: Mapped[str] = choice(AUTHENTICATIONS)
    sa_lifetime_seconds: Mapped[int | None] = integer(
        0, 2**31 - 1, "Lifetime of the security association", label="SA lifetime (time)", unit="s"
    )
    sa_lifetime_data: Mapped[int | None] = integer(
        0, 2**31 - 1, "Lifetime of the security association", label="SA lifetime (data)", unit="kB"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


class IPSecPolicy(Primary):
    """The proposals that an end accepts, and its group for perfect forward secrecy."""

    __tablename__ = "vpn_ipsec_policy"

    name: Mapped[Name] = mapped_column(unique=True)
    pfs_group: Mapped[int | None] = choice(
        GROUPS, length=None, default=None, help="Diffie-Hellman group of perfect forward secrecy", label="PFS group"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


class IPSecProfile(Primary):
    """An IKE policy and an IPsec policy that are used together."""

    __tablename__ = "vpn_ipsec_profile"

    name: Mapped[Name] = mapped_column(unique=True)
    mode: Mapped[str] = choice(MODES, blank=False)
    ike_policy_id: Mapped[Ref] = foreign_key(
        IKEPolicy, on_delete=PROTECT, related_name="ipsec_profiles", label="IKE policy"
    )
    ipsec_policy_id: Mapped[Ref] = foreign_key(
        IPSecPolicy, on_delete=PROTECT, related_name="ipsec_profiles", label="IPsec policy"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


ipsec_policy_proposals = many_to_many(
    "vpn_ipsec_policy_proposal", IPSecPolicy.__tablename__, IPSecProposal.__tablename__
)

ipsec_proposals = Resource(
    IPSecProposal,
    "ipsec-proposals",
    title="IPsec proposal",
    plural="IPsec proposals",
    search=["name", "description", "comments"],
    example={"encryption_algorithm": "aes-256-gcm"},
    presentation=Presentation(
        icon="lock-closed",
        columns=[
            "encryption_algorithm",
            "authentication_algorithm",
            "sa_lifetime_seconds",
            "sa_lifetime_data",
            "description",
        ],
        facets=["encryption_algorithm", "authentication_algorithm"],
    ),
)

ipsec_policies = Resource(
    IPSecPolicy,
    "ipsec-policies",
    title="IPsec policy",
    plural="IPsec policies",
    search=["name", "description", "comments"],
    fields=[to_many("proposals", ipsec_policy_proposals, "vpn.ipsecproposal", related_name="ipsec_policies")],
    presentation=Presentation(
        icon="lock-closed",
        columns=["proposals", "pfs_group", "description"],
        facets=["pfs_group"],
        fieldsets=[("IPsec policy", ["name", "proposals", "pfs_group", "description"])],
    ),
)

ipsec_profiles = Resource(
    IPSecProfile,
    "ipsec-profiles",
    title="IPsec profile",
    plural="IPsec profiles",
    search=["name", "description", "comments"],
    example={"mode": "esp"},
    presentation=Presentation(
        icon="lock-closed",
        columns=["mode", "ike_policy", "ipsec_policy", "description"],
        facets=["mode", "ike_policy", "ipsec_policy"],
        fieldsets=[("IPsec profile", ["name", "mode", "ike_policy", "ipsec_policy", "description"])],
    ),
)


@ipsec_proposals.rule(changing=["encryption_algorithm", "authentication_algorithm"])
def a_proposal_has_an_algorithm(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects proposals that neither encrypt nor authenticate."""
    for draft in drafts:
        if not draft["encryption_algorithm"] and not draft["authentication_algorithm"]:
            draft.reject("encryption_algorithm", "A proposal has an algorithm of encryption or of authentication.")
