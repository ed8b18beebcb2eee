"""Actions on selected interfaces of virtual machines: they are enabled or disabled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_dcim.web.ports.actions import DISABLE, ENABLE, add_pages
from netinv_web.extensions import Action

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The actions on the selected objects of a resource."""
    return [ENABLE, DISABLE] if endpoint.label == "virtualization.vminterface" else []


def includeme(config: Any) -> None:
    """Adds the pages of the actions."""
    add_pages(config, "virtualization/interfaces", cabled=False, enabled=True)
