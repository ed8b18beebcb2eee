"""external identities"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0010"
down_revision = "core_0009"


def upgrade() -> None:
    op.create_table(
        "core_external_identity",
        sa.Column("provider", column_types.Chars(50), nullable=False),
        sa.Column("subject", column_types.Chars(255), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["core_user.id"], name=op.f("fk_core_external_identity_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("provider", "subject", name=op.f("pk_core_external_identity")),
    )
    op.create_index(op.f("ix_core_external_identity_user_id"), "core_external_identity", ["user_id"])


def downgrade() -> None:
    op.drop_table("core_external_identity")
