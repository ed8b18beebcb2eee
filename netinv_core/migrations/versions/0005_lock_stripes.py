"""rows that rules over other rows lock"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "core_0005"
down_revision = "core_0004"

STRIPES = 1024


def upgrade() -> None:
    table = op.create_table(
        "core_lock_stripe",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_lock_stripe")),
    )
    op.bulk_insert(table, [{"id": number} for number in range(STRIPES)])


def downgrade() -> None:
    op.drop_table("core_lock_stripe")
