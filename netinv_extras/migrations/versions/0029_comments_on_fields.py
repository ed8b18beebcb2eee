"""comments on objects and fields of change requests"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0029"
down_revision = "extras_0028"


def upgrade() -> None:
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.add_column(sa.Column("last_comment_about", column_types.Json(), nullable=True))
    with op.batch_alter_table("extras_change_request_event", schema=None) as batch_op:
        batch_op.add_column(sa.Column("about", column_types.Json(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("extras_change_request_event", schema=None) as batch_op:
        batch_op.drop_column("about")
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.drop_column("last_comment_about")
