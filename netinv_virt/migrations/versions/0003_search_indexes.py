"""indexes for the search by names and MAC addresses"""

from __future__ import annotations

from alembic import op

revision = "virtualization_0003"
down_revision = "virtualization_0002"

INDEXES = (
    ("virtualization_virtual_machine", "name"),
    ("virtualization_vm_interface", "mac_address"),
)


def upgrade() -> None:
    for table, column in INDEXES:
        op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table, column in INDEXES:
        op.drop_index(f"ix_{table}_{column}", table_name=table)
