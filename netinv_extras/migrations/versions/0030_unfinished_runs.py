"""runs of jobs that ended before the job did"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "extras_0030"
down_revision = "extras_0029"

TABLE = "extras_job_result"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(sa.Column("unfinished", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.drop_column("unfinished")
