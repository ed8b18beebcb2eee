"""names of virtual machines without a tenant are unique"""

from __future__ import annotations

from netinv_core.migrations.uniqueness import UniqueCopy, add_unique_copies, drop_unique_copy

revision = "virtualization_0002"
down_revision = "virtualization_0001"


def upgrade() -> None:
    add_unique_copies(
        UniqueCopy("virtualization_virtual_machine", "untenanted_name", of="name", without="tenant_id", length=64, beside=["cluster_id"]),
    )


def downgrade() -> None:
    drop_unique_copy("virtualization_virtual_machine", "untenanted_name", ["cluster_id"])
