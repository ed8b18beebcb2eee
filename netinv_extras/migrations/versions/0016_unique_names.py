"""names without an owner are unique"""

from __future__ import annotations

from netinv_core.migrations.uniqueness import UniqueCopy, add_unique_copies, drop_unique_copy

revision = "extras_0016"
down_revision = "extras_0015"


def upgrade() -> None:
    add_unique_copies(
        UniqueCopy("extras_config_context", "unowned_name", of="name", without="owner_object_id", length=100),
        UniqueCopy("extras_config_context_schema", "unowned_name", of="name", without="owner_object_id", length=200),
        UniqueCopy("extras_export_template", "unowned_name", of="name", without="owner_object_id", length=100, beside=["content_type"]),
    )


def downgrade() -> None:
    drop_unique_copy("extras_export_template", "unowned_name", ["content_type"])
    drop_unique_copy("extras_config_context_schema", "unowned_name")
    drop_unique_copy("extras_config_context", "unowned_name")
