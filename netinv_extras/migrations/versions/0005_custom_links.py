"""Custom links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0005"
down_revision = "extras_0004"


def upgrade() -> None:
    op.create_table(
        "extras_custom_link",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("target_url", column_types.Chars(500), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("text", column_types.Chars(500), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("group_name", column_types.Chars(50), nullable=False),
        sa.Column("button_class", column_types.Chars(30), nullable=False),
        sa.Column("new_window", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_custom_link")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_custom_link_name")),
    )


def downgrade() -> None:
    op.drop_table("extras_custom_link")
