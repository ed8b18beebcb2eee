"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "example_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "example_maintenance_window",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=False),
        sa.Column("start", column_types.Timestamp(), nullable=False),
        sa.Column("end", column_types.Timestamp(), nullable=False),
        sa.Column("status", column_types.Chars(50), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_example_maintenance_window_site_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_example_maintenance_window")),
        sa.UniqueConstraint("slug", name=op.f("uq_example_maintenance_window_slug")),
    )
    with op.batch_alter_table("example_maintenance_window", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_example_maintenance_window_end"), ["end"], unique=False)
        batch_op.create_index(batch_op.f("ix_example_maintenance_window_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_example_maintenance_window_start"), ["start"], unique=False)


def downgrade() -> None:
    op.drop_table("example_maintenance_window")
