"""Image attachments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0009"
down_revision = "extras_0008"


def upgrade() -> None:
    op.create_table(
        "extras_image_attachment",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(50), nullable=False),
        sa.Column("image", column_types.Chars(100), nullable=False),
        sa.Column("image_height", sa.Integer(), nullable=False),
        sa.Column("image_width", sa.Integer(), nullable=False),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_image_attachment")),
    )
    op.create_index(op.f("ix_extras_image_attachment_image"), "extras_image_attachment", ["image"])
    op.create_index("ix_extras_image_attachment_object", "extras_image_attachment", ["object_id", "content_type"])


def downgrade() -> None:
    op.drop_table("extras_image_attachment")
