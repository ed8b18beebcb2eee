"""Tabs of provider networks, provider accounts, interfaces and virtual circuits. Imported by hooks of the interface
only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyramid.request import Request

from netinv_core import Endpoint, hookimpl
from netinv_virtual_circuits.circuits import CIRCUIT, TERMINATION, VirtualCircuit, VirtualCircuitTermination
from netinv_web.extensions import ListTab


def _tab(name: str, title: str, model: Any, label: str, reference: str, parameter: str = "") -> ListTab:
    column = model.__table__.c[f"{reference}_id"]

    def within(request: Request, item: Mapping[str, Any]) -> list[Any]:
        return [column == item["id"]]

    def filters(item: Mapping[str, Any]) -> dict[str, str]:
        return {parameter or reference: str(item["id"])}

    return ListTab(name, title, label, within, lambda item: {reference: str(item["id"])}, 320, filters=filters)


TABS = {
    "circuits.providernetwork": _tab(
        "virtual-circuits", "Virtual circuits", VirtualCircuit, CIRCUIT, "provider_network"
    ),
    "provider_accounts.provideraccount": _tab(
        "virtual-circuits", "Virtual circuits", VirtualCircuit, CIRCUIT, "provider_account"
    ),
    CIRCUIT: _tab("terminations", "Terminations", VirtualCircuitTermination, TERMINATION, "virtual_circuit"),
    "dcim.interface": _tab(
        "virtual-circuit-terminations", "Virtual circuit", VirtualCircuitTermination, TERMINATION, "interface"
    ),
}


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> list[ListTab]:
    """The tabs of a resource."""
    return [TABS[endpoint.label]] if endpoint.label in TABS else []
