"""indexes of networks and addresses begin with the IP version, in the order of lists"""

from __future__ import annotations

from alembic import op

revision = "ipam_0002"
down_revision = "ipam_0001"

VERSION = "ip_version"
INDEXES = {
    "ipam_aggregate": ["network", "broadcast"],
    "ipam_ip_address": ["host", "prefix_length", "id"],
    "ipam_prefix": ["network", "prefix_length"],
}


def upgrade() -> None:
    for table, columns in INDEXES.items():
        _replace(table, [VERSION, *columns])


def downgrade() -> None:
    for table, columns in INDEXES.items():
        _replace(table, columns)


def _replace(table: str, columns: list[str]) -> None:
    """Replaces the index of the order of lists."""
    name = f"ix_{table}_place"
    op.drop_index(name, table_name=table)
    op.create_index(name, table, columns)
