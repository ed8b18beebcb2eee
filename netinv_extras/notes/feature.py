"""Feature ``notes``: notes about objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.models.base import Organizational
from netinv_core.presentation import MenuSection
from netinv_extras import notes

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.resource import FieldFactory

feature = Feature(
    "notes",
    "Notes",
    [notes.notes],
    includes=["netinv_extras.notes"],
    web=["netinv_extras.notes.web.page"],
    menu=[MenuSection("Customization", ["notes"], icon="adjustments-horizontal", position=718)],
)


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    """``notes_url`` on organizational resources."""
    return [notes.notes_url] if issubclass(endpoint.model, Organizational) else []
