"""changes of a type by action and number"""

from __future__ import annotations


from netinv_core.migrations.indexes import create_index, drop_index

revision = "core_0014"
down_revision = "core_0013"

TABLE = "core_object_change"
BY_ACTION = "ix_core_object_change_changed_object_type_action_number"


def upgrade() -> None:
    create_index(
        BY_ACTION, TABLE, ["changed_object_type", "action", "number"], where="action IN ('update', 'delete')"
    )


def downgrade() -> None:
    drop_index(BY_ACTION, TABLE)
