"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "web_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "web_session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key_hash", column_types.Chars(64), nullable=False),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.Column("last_used", column_types.Timestamp(), nullable=False),
        sa.Column("address", column_types.Chars(64), nullable=False),
        sa.Column("user_agent", column_types.Chars(255), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_web_session_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_session")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_web_session_key_hash")),
    )
    op.create_index(op.f("ix_web_session_user_id"), "web_session", ["user_id"])
    op.create_index(op.f("ix_web_session_last_used"), "web_session", ["last_used"])


def downgrade() -> None:
    op.drop_table("web_session")
