"""an index of the lanes of deliveries"""

from __future__ import annotations

from alembic import op

revision = "extras_0020"
down_revision = "extras_0019"
TABLE = "extras_webhook_delivery"


def upgrade() -> None:
    op.create_index(
        "ix_extras_webhook_delivery_lane", TABLE, ["changed_object_id", "webhook_id", "state", "id"], unique=False
    )
    op.drop_index("ix_extras_webhook_delivery_object", TABLE)


def downgrade() -> None:
    op.create_index("ix_extras_webhook_delivery_object", TABLE, ["changed_object_id", "state", "id"], unique=False)
    op.drop_index("ix_extras_webhook_delivery_lane", TABLE)
