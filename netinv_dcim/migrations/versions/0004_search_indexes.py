"""indexes for the search by names, serial numbers and MAC addresses"""

from __future__ import annotations

from alembic import op

revision = "dcim_0004"
down_revision = "dcim_0003"

INDEXES = (
    ("dcim_device", "name"),
    ("dcim_device", "serial"),
    ("dcim_inventory_item", "serial"),
    ("dcim_interface", "mac_address"),
)


def upgrade() -> None:
    for table, column in INDEXES:
        op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table, column in INDEXES:
        op.drop_index(f"ix_{table}_{column}", table_name=table)
