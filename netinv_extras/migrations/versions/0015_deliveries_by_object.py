"""deliveries: found by object and state; that of a webhook and an object is among them"""

from __future__ import annotations

from alembic import op

revision = "extras_0015"
down_revision = "extras_0014"


def upgrade() -> None:
    with op.batch_alter_table("extras_webhook_delivery", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_webhook_id"), ["webhook_id"], unique=False)
        batch_op.create_index("ix_extras_webhook_delivery_object", ["changed_object_id", "state", "id"], unique=False)
    with op.batch_alter_table("extras_webhook_delivery", schema=None) as batch_op:
        batch_op.drop_index("ix_extras_webhook_delivery_lane")
        batch_op.drop_index(batch_op.f("ix_extras_webhook_delivery_changed_object_id"))


def downgrade() -> None:
    with op.batch_alter_table("extras_webhook_delivery", schema=None) as batch_op:
        batch_op.create_index("ix_extras_webhook_delivery_lane", ["webhook_id", "changed_object_id", "state", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_changed_object_id"), ["changed_object_id"], unique=False)
    with op.batch_alter_table("extras_webhook_delivery", schema=None) as batch_op:
        batch_op.drop_index("ix_extras_webhook_delivery_object")
        batch_op.drop_index(batch_op.f("ix_extras_webhook_delivery_webhook_id"))
