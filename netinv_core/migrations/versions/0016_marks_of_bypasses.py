"""marks of bypassed checks in change records"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "core_0016"
down_revision = "core_0015"

TABLE = "core_object_change"


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("bypassed", column_types.Chars(length=200), nullable=True))


def downgrade() -> None:
    op.drop_column(TABLE, "bypassed")
