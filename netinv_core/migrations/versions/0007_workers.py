"""workers"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0007"
down_revision = "core_0006"


def upgrade() -> None:
    op.create_table(
        "core_worker",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("host", column_types.Chars(255), nullable=False),
        sa.Column("process", sa.Integer(), nullable=False),
        sa.Column("started", column_types.Timestamp(), nullable=False),
        sa.Column("seen", column_types.Timestamp(), nullable=False),
        sa.Column("task", column_types.Chars(100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_worker")),
    )


def downgrade() -> None:
    op.drop_table("core_worker")
