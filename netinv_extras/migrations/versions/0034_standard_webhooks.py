"""second secret, time limit and reason of a pause of webhooks"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0034"
down_revision = "extras_0033"

TABLE = "extras_webhook"
NAMES = ("second_secret", "timeout", "pause_reason")


def upgrade() -> None:
    empty = sa.text("''")
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("second_secret", column_types.LongText(), nullable=False, server_default=empty)
        )
        batch_op.add_column(sa.Column("timeout", sa.Integer(), nullable=True))
        batch_op.add_column(
            sa.Column("pause_reason", column_types.Chars(200), nullable=False, server_default=empty)
        )


def downgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        for name in NAMES:
            batch_op.drop_column(name)
