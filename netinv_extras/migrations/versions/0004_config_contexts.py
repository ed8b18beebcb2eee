"""config contexts"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0004"
down_revision = "extras_0003"


def upgrade() -> None:
    op.create_table(
        "extras_config_context",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("owner_content_type", column_types.Chars(100), nullable=True),
        sa.Column("owner_object_id", sa.Uuid(), nullable=True),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=True),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("data", column_types.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["schema_id"], ["extras_config_context_schema.id"], name=op.f("fk_extras_config_context_schema_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_config_context")),
        sa.UniqueConstraint(
            "name", "owner_content_type", "owner_object_id", name=op.f("uq_extras_config_context_name_owner_content_type_owner_object_id")
        ),
    )
    with op.batch_alter_table("extras_config_context", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_config_context_owner_object_id"), ["owner_object_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_config_context_schema_id"), ["schema_id"], unique=False)

    op.create_table(
        "extras_config_context_scope",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("scope", column_types.Chars(100), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["extras_config_context.id"], name=op.f("fk_extras_config_context_scope_owner_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("owner_id", "scope", "target_id", name=op.f("pk_extras_config_context_scope")),
    )
    with op.batch_alter_table("extras_config_context_scope", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_config_context_scope_target_id"), ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_config_context_scope")
    op.drop_table("extras_config_context")
