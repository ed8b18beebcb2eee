"""change numbers"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "core_0002"
down_revision = "core_0001"


def upgrade() -> None:
    op.create_table(
        "core_change_numbering",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("given", sa.BigInteger(), nullable=False),
        sa.Column("pruned", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_change_numbering")),
    )
    with op.batch_alter_table("core_object_change", schema=None) as batch_op:
        batch_op.add_column(sa.Column("number", sa.BigInteger(), nullable=True))
        batch_op.create_index(batch_op.f("ix_core_object_change_number"), ["number"], unique=True)


def downgrade() -> None:
    with op.batch_alter_table("core_object_change", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_core_object_change_number"))
        batch_op.drop_column("number")

    op.drop_table("core_change_numbering")
