"""Tabs of providers and circuits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_circuits.circuits import Circuit
from netinv_core import Endpoint, hookimpl
from netinv_provider_accounts.accounts import CIRCUIT, ProviderAccount, account_circuits
from netinv_web.extensions import ListTab

LABEL, PROVIDER = "provider_accounts.provideraccount", "circuits.provider"


def _of_provider(request: Request, item: Mapping[str, Any]) -> list[Any]:
    return [ProviderAccount.__table__.c.provider_id == item["id"]]


def _of_circuit(request: Request, item: Mapping[str, Any]) -> list[Any]:
    accounts = sa.select(account_circuits.c.owner_id).where(account_circuits.c.target_id == item["id"])
    return [ProviderAccount.__table__.c.id.in_(accounts)]


def _under_account(request: Request, item: Mapping[str, Any]) -> list[Any]:
    circuits = sa.select(account_circuits.c.target_id).where(account_circuits.c.owner_id == item["id"])
    return [Circuit.__table__.c.id.in_(circuits)]


TABS = {
    PROVIDER: ListTab(
        "provider-accounts",
        "Accounts",
        LABEL,
        _of_provider,
        lambda item: {"provider": item["id"]},
        300,
        filters=lambda item: {"provider": str(item["id"])},
    ),
    CIRCUIT: ListTab(
        "provider-accounts",
        "Accounts",
        LABEL,
        _of_circuit,
        lambda item: {"provider": item["provider"]["id"], "circuits": item["id"]},
        310,
        filters=lambda item: {"circuits": str(item["id"])},
    ),
    LABEL: ListTab(
        "circuits",
        "Circuits",
        CIRCUIT,
        _under_account,
        lambda item: None,
        300,
        filters=lambda item: {"provider_accounts": str(item["id"])},
    ),
}


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    return [TABS[endpoint.label]] if endpoint.label in TABS else []
