"""Import of NetBox dumps: provider accounts, with the circuits that name them."""

from __future__ import annotations

from typing import Any

from netinv_core import Source

ACCOUNT, CIRCUIT = "circuits.provideraccount", "circuits.circuit"


def with_circuits(dump: Any) -> None:
    """Lists circuits at their account."""
    circuits: dict[Any, list[Any]] = {}
    for circuit, fields in list(dump.objects.get(CIRCUIT, {}).items()):
        account = fields.get("provider_account")
        if account is not None and dump.get(ACCOUNT, account):
            circuits.setdefault(account, []).append(circuit)
            dump.set((CIRCUIT, circuit), provider_account=None)
    for key, listed in circuits.items():
        dump.set((ACCOUNT, key), circuits=listed)


models = {
    ACCOUNT: Source("provider_accounts.provideraccount", prepare=with_circuits, by=("provider_id", "account")),
}
