"""Custom links."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core import columns

revision = "extras_0005"
down_revision = "extras_0004"


def upgrade() -> None:
    op.create_table(
        "extras_custom_link",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("target_url", columns.Chars(500), nullable=False),
        sa.Column("name", columns.Chars(100), nullable=False),
        sa.Column("content_type", columns.Chars(100), nullable=False),
        sa.Column("text", columns.Chars(500), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("group_name", columns.Chars(50), nullable=False),
        sa.Column("button_class", columns.Chars(30), nullable=False),
        sa.Column("new_window", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", columns.Timestamp(), nullable=False),
        sa.Column("custom_field_data", columns.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_custom_link")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_custom_link_name")),
    )


def downgrade() -> None:
    op.drop_table("extras_custom_link")
