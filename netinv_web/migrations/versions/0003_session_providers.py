"""identity providers of sessions"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "web_0003"
down_revision = "web_0002"


def upgrade() -> None:
    """Sessions end: users sign in again."""
    op.execute(sa.delete(sa.table("web_session")))
    with op.batch_alter_table("web_session", schema=None) as batch_op:
        batch_op.add_column(sa.Column("provider", column_types.Chars(50), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("provider_data", column_types.LongText(), nullable=False))


def downgrade() -> None:
    with op.batch_alter_table("web_session", schema=None) as batch_op:
        batch_op.drop_column("provider_data")
        batch_op.drop_column("provider")
