"""indexes of prefixes have all that the children of a prefix are found by"""

from __future__ import annotations

from netinv_core.migrations.indexes import create_index, drop_index

revision = "ipam_0003"
down_revision = "ipam_0002"

TABLE = "ipam_prefix"
PLACE, IN_VRF = ["ip_version", "network", "prefix_length"], ["vrf_id", "ip_version", "network"]


def upgrade() -> None:
    _replace("place", [*PLACE, "vrf_id"])
    _replace("in_vrf", [*IN_VRF, "prefix_length"])


def downgrade() -> None:
    _replace("place", PLACE)
    _replace("in_vrf", IN_VRF)


def _replace(name: str, columns: list[str]) -> None:
    drop_index(f"ix_{TABLE}_{name}", TABLE)
    create_index(f"ix_{TABLE}_{name}", TABLE, columns)
