"""deliveries count the claims that were lost"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "extras_0017"
down_revision = "extras_0016"


def upgrade() -> None:
    with op.batch_alter_table("extras_webhook_delivery") as batch_op:
        batch_op.add_column(sa.Column("lost_claims", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    with op.batch_alter_table("extras_webhook_delivery") as batch_op:
        batch_op.drop_column("lost_claims")
