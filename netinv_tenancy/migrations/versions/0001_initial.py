"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "tenancy_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "tenancy_tenant_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["tenancy_tenant_group.id"], name=op.f("fk_tenancy_tenant_group_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenancy_tenant_group")),
        sa.UniqueConstraint("name", name=op.f("uq_tenancy_tenant_group_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_tenancy_tenant_group_slug")),
    )
    with op.batch_alter_table("tenancy_tenant_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tenancy_tenant_group_parent_id"), ["parent_id"], unique=False)

    op.create_table(
        "tenancy_tenant",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["tenancy_tenant_group.id"], name=op.f("fk_tenancy_tenant_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tenancy_tenant")),
        sa.UniqueConstraint("name", name=op.f("uq_tenancy_tenant_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_tenancy_tenant_slug")),
    )
    with op.batch_alter_table("tenancy_tenant", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tenancy_tenant_group_id"), ["group_id"], unique=False)


def downgrade() -> None:
    op.drop_table("tenancy_tenant")
    op.drop_table("tenancy_tenant_group")
