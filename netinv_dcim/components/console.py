"""Console ports of devices, and the ports of console servers that give access to them."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from netinv_core.models.associations import unique_set
from netinv_core.models.base import Primary
from netinv_core.models.columns import Ref, choice
from netinv_dcim.cabling.models import CONSOLE, CONSOLE_SERVER, PASS_THROUGH, PathEnd
from netinv_dcim.components.base import ComponentName, component, of_device
from netinv_dcim.components.connectors import CONSOLE_CONNECTORS


class ConsolePort(ComponentName, PathEnd, Primary):
    """A port by which a device is managed."""

    connector_kind = CONSOLE
    compatible_with = frozenset({CONSOLE_SERVER, PASS_THROUGH})

    __tablename__ = "dcim_console_port"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("console_ports")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS, help="Physical port type")


class ConsoleServerPort(ComponentName, PathEnd, Primary):
    """A port by which a console server reaches a console port."""

    connector_kind = CONSOLE_SERVER
    compatible_with = frozenset({CONSOLE, PASS_THROUGH})

    __tablename__ = "dcim_console_server_port"
    __table_args__ = (unique_set("device_id", "name"),)

    device_id: Mapped[Ref] = of_device("console_server_ports")
    type: Mapped[str] = choice(CONSOLE_CONNECTORS, help="Physical port type")


console_ports = component(ConsolePort, "console-ports")
console_server_ports = component(ConsoleServerPort, "console-server-ports")
