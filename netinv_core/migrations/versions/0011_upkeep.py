"""upkeep"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0011"
down_revision = "core_0010"


def upgrade() -> None:
    table = op.create_table(
        "core_upkeep",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("claimed_by", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", column_types.Timestamp(), nullable=True),
        sa.Column("finished", column_types.Timestamp(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_upkeep")),
    )
    op.bulk_insert(table, [{"id": 1}])


def downgrade() -> None:
    op.drop_table("core_upkeep")
