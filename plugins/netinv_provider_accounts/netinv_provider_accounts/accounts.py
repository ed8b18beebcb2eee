"""Accounts with a provider, and the circuits that are ordered under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_circuits.circuits import Circuit
from netinv_circuits.providers import Provider
from netinv_core import (
    PROTECT,
    Comments,
    Description,
    Draft,
    Presentation,
    Primary,
    Ref,
    Resource,
    UnitOfWork,
    foreign_key,
    listing,
    many_to_many,
    required_text,
    text,
    through,
    to_many,
    unique_set,
)

CIRCUIT = "circuits.circuit"


class ProviderAccount(Primary):
    """A customer number with a provider. A circuit is of one account at most."""

    __tablename__ = "provider_accounts_account"
    __table_args__ = (unique_set("provider_id", "account"),)

    provider_id: Mapped[Ref] = foreign_key(Provider, on_delete=PROTECT, related_name="accounts", index=False)
    account: Mapped[str] = required_text(100, label="Account number")
    name: Mapped[str] = text(100)
    description: Mapped[Description]
    comments: Mapped[Comments]


account_circuits = many_to_many("provider_accounts_circuit", ProviderAccount.__tablename__, Circuit.__tablename__)


def account_display(account: str, name: str) -> str:
    """The display name: ``4711 (Backbone)``, or ``4711`` without a name."""
    return f"{account} ({name})" if name else account


provider_accounts = Resource(
    ProviderAccount,
    "provider-accounts",
    display=(account_display, "account", "name"),
    brief=["provider", "account", "name"],
    order=["provider.name", "account"],
    search=["account", "name", "description", "comments", "provider.name"],
    fields=[to_many("circuits", account_circuits, CIRCUIT, related_name="provider_accounts")],
    presentation=Presentation(
        icon="arrows-right-left",
        columns=["provider", "name", "description"],
        facets=["provider"],
        depends_on={"circuits": {"provider": "provider_id"}},
        fieldsets=[("Provider account", ["provider", "account", "name", "circuits", "description"])],
    ),
)


@provider_accounts.rule(reads=[through("circuits", "provider_id", exclusive=True)])
def circuits_are_of_the_provider_and_of_one_account(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects circuits of another provider, and those of another account; three statements, which lock the circuits."""
    listed = {draft.id: draft.many["circuits"] for draft in drafts if "circuits" in draft.many}
    unlisted = [draft.id for draft in drafts if not draft.new and draft.id not in listed]
    kept = [draft.id for draft in drafts if draft.id in unlisted and draft.changed("provider_id")]
    for account, circuit in _pairs(uow, account_circuits.c.owner_id, kept):
        listed.setdefault(account, []).append(circuit)
    keys = {key for circuits in listed.values() for key in circuits}
    circuits = listing.rows_of(uow, Circuit, keys, locked=True)
    owners: dict[Any, set[Any]] = {}
    for account, circuit in _pairs(uow, account_circuits.c.target_id, sorted(keys)):
        if account not in listed:
            owners.setdefault(circuit, set()).add(account)
    for account, members in listed.items():
        for circuit in members:
            owners.setdefault(circuit, set()).add(account)
    for draft in drafts:
        members = listed.get(draft.id, [])
        if any(circuits[key].provider_id != draft["provider_id"] for key in members):
            draft.reject("circuits", "The circuits must be of the provider.")
        elif any(len(owners[key]) > 1 for key in members):
            draft.reject("circuits", "A circuit is of one account only.")


def _pairs(uow: UnitOfWork, column: Any, keys: Sequence[Any]) -> Sequence[Any]:
    """Pairs of accounts and circuits that are stored, of those with a column among ``keys``."""
    if not keys:
        return []
    table = account_circuits
    return uow.execute(sa.select(table.c.owner_id, table.c.target_id).where(column.in_(keys))).all()
