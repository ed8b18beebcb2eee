"""Pages of circuits: the path of cables through a circuit."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_circuits.circuits import TERMINATION
from netinv_circuits.terminations import CIRCUIT
from netinv_core.hookspecs import hookimpl
from netinv_dcim.cabling.paths import End
from netinv_dcim.web import trace_pages

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_web.extensions import Panel, Tab


def _side_of(endpoint: Endpoint, circuit: Mapping[str, Any]) -> End | None:
    """The side of a circuit at which its path is entered; the drawing goes through both."""
    side = circuit["termination_a"] or circuit["termination_z"]
    return End(TERMINATION, uuid.UUID(str(side["id"]))) if side else None


@hookimpl
def netinv_web_panels(endpoint: Endpoint) -> Sequence[Panel]:
    """The path on the page of a circuit."""
    return [trace_pages.panel(_side_of)] if endpoint.label == CIRCUIT else []


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> Sequence[Tab]:
    """The path on a page of its own."""
    return [trace_pages.tab(_side_of)] if endpoint.label == CIRCUIT else []
