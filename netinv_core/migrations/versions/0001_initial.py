"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "core_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "core_configuration_version",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_configuration_version")),
    )
    op.create_table(
        "core_content_type",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("app_label", column_types.Chars(100), nullable=False),
        sa.Column("model", column_types.Chars(100), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_content_type")),
        sa.UniqueConstraint("app_label", "model", name=op.f("uq_core_content_type_app_label_model")),
    )
    op.create_table(
        "core_group",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("name", column_types.Chars(150), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_group")),
        sa.UniqueConstraint("name", name=op.f("uq_core_group_name")),
    )
    op.create_table(
        "core_permission",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("actions", column_types.Json(), nullable=False),
        sa.Column("constraints", column_types.Json(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_permission")),
    )
    op.create_table(
        "core_user",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("username", column_types.Chars(150), nullable=False),
        sa.Column("password", column_types.Chars(128), nullable=False),
        sa.Column("first_name", column_types.Chars(150), nullable=False),
        sa.Column("last_name", column_types.Chars(150), nullable=False),
        sa.Column("email", column_types.Chars(254), nullable=False),
        sa.Column("is_staff", sa.Boolean(), nullable=False),
        sa.Column("is_active", sa.Boolean(), nullable=False),
        sa.Column("date_joined", column_types.Timestamp(), nullable=False),
        sa.Column("is_superuser", sa.Boolean(), nullable=False),
        sa.Column("config_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_user")),
        sa.UniqueConstraint("username", name=op.f("uq_core_user_username")),
    )
    op.create_table(
        "core_object_change",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("time", column_types.Timestamp(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("action", column_types.Chars(50), nullable=False),
        sa.Column("changed_object_type", column_types.Chars(100), nullable=False),
        sa.Column("changed_object_id", sa.Uuid(), nullable=False),
        sa.Column("object_repr", column_types.Chars(200), nullable=False),
        sa.Column("object_data", column_types.Json(), nullable=False),
        sa.Column("before", column_types.Json(), nullable=True),
        sa.Column("after", column_types.Json(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_core_object_change_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_object_change")),
    )
    with op.batch_alter_table("core_object_change", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_object_change_changed_object_id"), ["changed_object_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_core_object_change_changed_object_type"), ["changed_object_type"], unique=False)
        batch_op.create_index(batch_op.f("ix_core_object_change_request_id"), ["request_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_core_object_change_time"), ["time"], unique=False)
        batch_op.create_index(batch_op.f("ix_core_object_change_user_id"), ["user_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_core_object_change_user_name"), ["user_name"], unique=False)

    op.create_table(
        "core_permission_group",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["core_permission.id"], name=op.f("fk_core_permission_group_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["core_group.id"], name=op.f("fk_core_permission_group_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_core_permission_group")),
    )
    with op.batch_alter_table("core_permission_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_permission_group_target_id"), ["target_id"], unique=False)

    op.create_table(
        "core_permission_type",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["core_permission.id"], name=op.f("fk_core_permission_type_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_core_permission_type")),
    )
    with op.batch_alter_table("core_permission_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_permission_type_label"), ["label"], unique=False)

    op.create_table(
        "core_permission_user",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["core_permission.id"], name=op.f("fk_core_permission_user_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["core_user.id"], name=op.f("fk_core_permission_user_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_core_permission_user")),
    )
    with op.batch_alter_table("core_permission_user", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_permission_user_target_id"), ["target_id"], unique=False)

    op.create_table(
        "core_token",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.Column("expires", column_types.Timestamp(), nullable=True),
        sa.Column("key_hash", column_types.Chars(64), nullable=False),
        sa.Column("key_sealed", column_types.Chars(255), nullable=False),
        sa.Column("write_enabled", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_core_token_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_core_token")),
        sa.UniqueConstraint("key_hash", name=op.f("uq_core_token_key_hash")),
    )
    with op.batch_alter_table("core_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "core_user_group",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["core_user.id"], name=op.f("fk_core_user_group_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["core_group.id"], name=op.f("fk_core_user_group_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_core_user_group")),
    )
    with op.batch_alter_table("core_user_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_core_user_group_target_id"), ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("core_user_group")
    op.drop_table("core_token")
    op.drop_table("core_permission_user")
    op.drop_table("core_permission_type")
    op.drop_table("core_permission_group")
    op.drop_table("core_object_change")
    op.drop_table("core_user")
    op.drop_table("core_permission")
    op.drop_table("core_group")
    op.drop_table("core_content_type")
    op.drop_table("core_configuration_version")
