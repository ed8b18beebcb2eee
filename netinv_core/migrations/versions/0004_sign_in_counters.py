"""sign-in counters"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0004"
down_revision = "core_0003"


def upgrade() -> None:
    op.create_table(
        "core_sign_in_counter",
        sa.Column("bucket", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("since", column_types.Timestamp(), nullable=False),
        sa.Column("known", column_types.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("bucket", name=op.f("pk_core_sign_in_counter")),
    )


def downgrade() -> None:
    op.drop_table("core_sign_in_counter")
