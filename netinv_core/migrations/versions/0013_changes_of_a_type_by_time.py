"""changes of a type by time"""

from __future__ import annotations


from netinv_core.migrations.indexes import create_index, drop_index

revision = "core_0013"
down_revision = "core_0012"

TABLE = "core_object_change"
BY_TYPE = "ix_core_object_change_changed_object_type"
BY_TYPE_AND_TIME = "ix_core_object_change_changed_object_type_time"


def upgrade() -> None:
    create_index(BY_TYPE_AND_TIME, TABLE, ["changed_object_type", "time"])
    drop_index(BY_TYPE, TABLE)


def downgrade() -> None:
    create_index(BY_TYPE, TABLE, ["changed_object_type"])
    drop_index(BY_TYPE_AND_TIME, TABLE)
