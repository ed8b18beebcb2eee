"""Virtual device contexts: parts of a device that act as devices of their own, such as virtual firewalls."""

from __future__ import annotations

from collections.abc import Mapping

from netinv_core import App, MenuSection, Registry, Source, hookimpl
from netinv_device_contexts import importing
from netinv_device_contexts.contexts import virtual_device_contexts

app = App(
    "device_contexts",
    "Virtual device contexts",
    [virtual_device_contexts],
    migrations="netinv_device_contexts:migrations",
    web=["netinv_device_contexts.pages"],
    plugin=True,
    menu=[MenuSection("Devices", ["virtual-device-contexts"], icon="cpu-chip", position=122)],
    description="Virtual device contexts with their interfaces and primary addresses",
    author="The netinv authors",
    distribution="netinv-device-contexts",
)


@hookimpl
def netinv_app() -> App:
    """The application, served under /api/plugins/device_contexts/."""
    return app


@hookimpl
def netinv_importers(registry: Registry, product: str) -> Mapping[str, Source]:
    """The contexts of NetBox dumps."""
    return importing.models if product == "netbox" else {}
