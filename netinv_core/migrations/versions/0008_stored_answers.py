"""stored answers"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0008"
down_revision = "core_0007"


def upgrade() -> None:
    op.create_table(
        "core_stored_answer",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("key_digest", column_types.Chars(64), nullable=False),
        sa.Column("request_digest", column_types.Chars(64), nullable=False),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.Column("content", sa.LargeBinary(2**24 - 1), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_stored_answer")),
        sa.UniqueConstraint("user_id", "key_digest", name=op.f("uq_core_stored_answer_user_id_key_digest")),
    )
    op.create_index(op.f("ix_core_stored_answer_created"), "core_stored_answer", ["created"])


def downgrade() -> None:
    op.drop_table("core_stored_answer")
