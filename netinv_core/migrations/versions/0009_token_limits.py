"""token limits"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0009"
down_revision = "core_0008"
LISTS = ("allowed_networks", "actions", "object_types")


def upgrade() -> None:
    with op.batch_alter_table("core_token", schema=None) as batch_op:
        for name in LISTS:
            batch_op.add_column(sa.Column(name, column_types.Json(), nullable=True))
        batch_op.add_column(sa.Column("last_used", column_types.Timestamp(), nullable=True))


def downgrade() -> None:
    """Tokens are no longer limited."""
    with op.batch_alter_table("core_token", schema=None) as batch_op:
        for name in ("last_used", *LISTS):
            batch_op.drop_column(name)
