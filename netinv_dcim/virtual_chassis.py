"""Virtual chassis: devices that act as one, with one of them as master."""

from __future__ import annotations

from sqlalchemy.orm import Mapped

from netinv_core.model import PROTECT, Primary, Ref, required_text, text, to
from netinv_core.read.filters import key, tree_pair
from netinv_core.resource import Resource


class VirtualChassis(Primary):
    """A stack or cluster of devices that is managed as one."""

    __tablename__ = "dcim_virtual_chassis"

    name: Mapped[str] = required_text(64)
    domain: Mapped[str] = text(30)
    master_id: Mapped[Ref | None] = to("dcim.device", on_delete=PROTECT, unique=True)


virtual_chassis = Resource(
    VirtualChassis,
    "virtual-chassis",
    title="virtual chassis",
    plural="virtual chassis",
    brief=["name", "master", "member_count"],
    search=["name", "members.name", "domain"],
    filters=[
        *tree_pair("region", "master.site.region"),
        key("master", by="name", ids=False),
        key("site_id", "master.site", by=()),
        key("site", "master.site", by="slug", ids=False),
        key("tenant_id", "master.tenant", by=()),
        key("tenant", "master.tenant", by="slug", ids=False),
    ],
)
