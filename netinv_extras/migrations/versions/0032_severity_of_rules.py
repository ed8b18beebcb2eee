"""severity of validation rules"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0032"
down_revision = "extras_0031"

TABLE = "extras_validation_rule"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("severity", column_types.Chars(50), nullable=False, server_default=sa.text("'refuse'"))
        )


def downgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.drop_column("severity")
