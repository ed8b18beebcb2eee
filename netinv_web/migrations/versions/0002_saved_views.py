"""saved views and default columns of lists"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "web_0002"
down_revision = "web_0001"


def upgrade() -> None:
    op.create_table(
        "web_saved_view",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("query", column_types.LongText(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["core_user.id"], name=op.f("fk_web_saved_view_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_saved_view")),
        sa.UniqueConstraint("owner_id", "content_type", "slug", name=op.f("uq_web_saved_view_owner_id_content_type_slug")),
    )
    op.create_index(op.f("ix_web_saved_view_owner_id"), "web_saved_view", ["owner_id"])
    op.create_index(op.f("ix_web_saved_view_content_type"), "web_saved_view", ["content_type"])
    op.create_table(
        "web_list_default",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("columns", column_types.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_web_list_default")),
        sa.UniqueConstraint("content_type", name=op.f("uq_web_list_default_content_type")),
    )


def downgrade() -> None:
    op.drop_table("web_list_default")
    op.drop_table("web_saved_view")
