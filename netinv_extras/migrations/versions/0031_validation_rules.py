"""validation rules"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0031"
down_revision = "extras_0030"

TABLE = "extras_validation_rule"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("applies_to", column_types.Json(), nullable=True),
        sa.Column("requires", column_types.Json(), nullable=True),
        sa.Column("unique_together", column_types.Json(), nullable=True),
        sa.Column("message", column_types.Chars(200), nullable=False),
        sa.Column("field_name", column_types.Chars(100), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_validation_rule")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_validation_rule_name")),
    )
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_validation_rule_content_type"), ["content_type"], unique=False)


def downgrade() -> None:
    op.drop_table(TABLE)
