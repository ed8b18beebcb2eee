"""webhooks can be paused"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "extras_0018"
down_revision = "extras_0017"


def upgrade() -> None:
    with op.batch_alter_table("extras_webhook") as batch_op:
        batch_op.add_column(sa.Column("paused", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("extras_webhook") as batch_op:
        batch_op.drop_column("paused")
