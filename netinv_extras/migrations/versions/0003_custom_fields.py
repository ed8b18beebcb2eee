"""custom fields"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0003"
down_revision = "extras_0002"


def upgrade() -> None:
    op.create_table(
        "extras_custom_field",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("label", column_types.Chars(50), nullable=False),
        sa.Column("name", column_types.Chars(50), nullable=False),
        sa.Column("slug", column_types.Chars(50), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("grouping", column_types.Chars(255), nullable=False),
        sa.Column("required", sa.Boolean(), nullable=False),
        sa.Column("filter_logic", column_types.Chars(50), nullable=False),
        sa.Column("default", column_types.Json(), nullable=True),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("validation_minimum", sa.BigInteger(), nullable=True),
        sa.Column("validation_maximum", sa.BigInteger(), nullable=True),
        sa.Column("validation_regex", column_types.Chars(500), nullable=False),
        sa.Column("advanced_ui", sa.Boolean(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_custom_field")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_custom_field_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_custom_field_slug")),
    )
    op.create_table(
        "extras_custom_field_choice",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("field_id", sa.Uuid(), nullable=False),
        sa.Column("value", column_types.Chars(100), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["field_id"], ["extras_custom_field.id"], name=op.f("fk_extras_custom_field_choice_field_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_custom_field_choice")),
        sa.UniqueConstraint("field_id", "value", name=op.f("uq_extras_custom_field_choice_field_id_value")),
    )
    with op.batch_alter_table("extras_custom_field_choice", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_custom_field_choice_field_id"), ["field_id"], unique=False)

    op.create_table(
        "extras_custom_field_type",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["extras_custom_field.id"], name=op.f("fk_extras_custom_field_type_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_extras_custom_field_type")),
    )
    with op.batch_alter_table("extras_custom_field_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_custom_field_type_label"), ["label"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_custom_field_type")
    op.drop_table("extras_custom_field_choice")
    op.drop_table("extras_custom_field")
