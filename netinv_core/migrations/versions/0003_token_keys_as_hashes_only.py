"""token keys as hashes only"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0003"
down_revision = "core_0002"


def upgrade() -> None:
    with op.batch_alter_table("core_token", schema=None) as batch_op:
        batch_op.drop_column("key_sealed")


def downgrade() -> None:
    """Keys stay unreadable: their encrypted texts are gone."""
    with op.batch_alter_table("core_token", schema=None) as batch_op:
        batch_op.add_column(sa.Column("key_sealed", column_types.Chars(255), nullable=False, server_default=""))
