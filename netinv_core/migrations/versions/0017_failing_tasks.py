"""names of the tasks that fail in a worker"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0017"
down_revision = "core_0016"

TABLE = "core_worker"


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("failing", column_types.Chars(length=255), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column(TABLE, "failing")
