"""IKE proposals and policies: how the two ends of an IPsec tunnel authenticate each other and agree on keys."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import (
    Choices,
    Comments,
    Description,
    Draft,
    Name,
    Presentation,
    Primary,
    Resource,
    UnitOfWork,
    choice,
    encrypted_text,
    integer,
    many_to_many,
    to_many,
)

AUTHENTICATION_METHODS = Choices.of(
    ("preshared-keys", "Pre-shared keys"),
    ("certificates", "Certificates"),
    ("rsa-signatures", "RSA signatures"),
    ("dsa-signatures", "DSA signatures"),
)
ENCRYPTIONS = Choices.of(
    *(
        (f"aes-{bits}-{mode}", f"{bits}-bit AES ({mode.upper()})")
        for bits in (128, 192, 256)
        for mode in ("cbc", "gcm")
    ),
    ("3des-cbc", "3DES"),
    ("des-cbc", "DES"),
)
AUTHENTICATIONS = Choices.of(
    *((f"hmac-sha{bits}", f"SHA-{bits} HMAC") for bits in (1, 256, 384, 512)), ("hmac-md5", "MD5 HMAC")
)
GROUPS = Choices.of(*((number, f"Group {number}") for number in (1, 2, 5, *range(14, 35))))  # numbers of IANA
VERSIONS = Choices.of((1, "IKEv1"), (2, "IKEv2"))
MODES = Choices.of(aggressive="Aggressive", main="Main")


class IKEProposal(Primary):
    """Algorithms that an end offers for the exchange of keys."""

    __tablename__ = "vpn_ike_proposal"

    name: Mapped[Name] = mapped_column(unique=True)
    authentication_method: Mapped[str] = choice(AUTHENTICATION_METHODS, blank=False)
    encryption_algorithm: Mapped[str] = choice(ENCRYPTIONS, blank=False)
    authentication_algorithm: Mapped[str] = choice(AUTHENTICATIONS)
    group: Mapped[int] = choice(GROUPS, length=None, default=14, help="Diffie-Hellman group")
    sa_lifetime: Mapped[int | None] = integer(
        0, 2**31 - 1, "Lifetime of the security association", label="SA lifetime", unit="s"
    )
    description: Mapped[Description]
    comments: Mapped[Comments]


class IKEPolicy(Primary):
    """Version and mode of IKE, and the proposals that an end accepts."""

    __tablename__ = "vpn_ike_policy"

    name: Mapped[Name] = mapped_column(unique=True)
    version: Mapped[int] = choice(VERSIONS, length=None, default=2)
    mode: Mapped[str] = choice(MODES, help="Of IKEv1 only")
    preshared_key: Mapped[str] = encrypted_text(label="Pre-shared key")
    description: Mapped[Description]
    comments: Mapped[Comments]


ike_policy_proposals = many_to_many("vpn_ike_policy_proposal", IKEPolicy.__tablename__, IKEProposal.__tablename__)

ike_proposals = Resource(
    IKEProposal,
    "ike-proposals",
    title="IKE proposal",
    plural="IKE proposals",
    search=["name", "description", "comments"],
    example={"authentication_method": "preshared-keys", "encryption_algorithm": "aes-256-gcm"},
    presentation=Presentation(
        icon="lock-closed",
        columns=["authentication_method", "encryption_algorithm", "authentication_algorithm", "group", "description"],
        facets=["authentication_method", "encryption_algorithm", "authentication_algorithm", "group"],
    ),
)

ike_policies = Resource(
    IKEPolicy,
    "ike-policies",
    title="IKE policy",
    plural="IKE policies",
    search=["name", "description", "comments"],
    fields=[to_many("proposals", ike_policy_proposals, "vpn.ikeproposal", related_name="ike_policies")],
    presentation=Presentation(
        icon="lock-closed",
        columns=["version", "mode", "proposals", "description"],
        facets=["version", "mode"],
        fieldsets=[("IKE policy", ["name", "version", "mode", "proposals", "preshared_key", "description"])],
    ),
)


@ike_policies.rule(changing=["version", "mode"])
def only_the_first_version_has_a_mode(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects IKEv1 without a mode, and IKEv2 with one."""
    for draft in drafts:
        if draft["version"] == 1 and not draft["mode"]:
            draft.reject("mode", "IKEv1 needs a mode.")
        elif draft["version"] == 2 and draft["mode"]:
            draft.reject("mode", "IKEv2 has no modes.")
