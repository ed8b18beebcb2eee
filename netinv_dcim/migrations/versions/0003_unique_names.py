"""names of devices without a tenant are unique"""

from __future__ import annotations

from netinv_core.migrations.uniqueness import UniqueCopy, add_unique_copies, drop_unique_copy

revision = "dcim_0003"
down_revision = "dcim_0002"


def upgrade() -> None:
    add_unique_copies(
        UniqueCopy("dcim_device", "untenanted_name", of="name", without="tenant_id", length=64, beside=["site_id"]),
    )


def downgrade() -> None:
    drop_unique_copy("dcim_device", "untenanted_name", ["site_id"])
