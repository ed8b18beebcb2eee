"""read positions"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "core_0012"
down_revision = "core_0011"


def upgrade() -> None:
    op.create_table(
        "core_read_position",
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_core_read_position")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER TABLE core_read_position SET UNLOGGED")


def downgrade() -> None:
    op.drop_table("core_read_position")
