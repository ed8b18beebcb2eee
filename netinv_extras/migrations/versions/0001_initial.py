"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "extras_config_context_schema",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(200), nullable=False),
        sa.Column("slug", column_types.Chars(200), nullable=False),
        sa.Column("owner_content_type", column_types.Chars(100), nullable=True),
        sa.Column("owner_object_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("data_schema", column_types.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_config_context_schema")),
        sa.UniqueConstraint(
            "name", "owner_content_type", "owner_object_id", name=op.f("uq_extras_config_context_schema_name_owner_content_type_owner_object_id")
        ),
    )
    with op.batch_alter_table("extras_config_context_schema", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_config_context_schema_owner_object_id"), ["owner_object_id"], unique=False)

    op.create_table(
        "extras_secret",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("provider", column_types.Chars(100), nullable=False),
        sa.Column("parameters", column_types.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_secret")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_secret_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_secret_slug")),
    )
    op.create_table(
        "extras_secrets_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_secrets_group")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_secrets_group_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_secrets_group_slug")),
    )
    op.create_table(
        "extras_status",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(50), nullable=False),
        sa.Column("slug", column_types.Chars(50), nullable=False),
        sa.Column("color", column_types.Chars(6), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_status")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_status_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_status_slug")),
    )
    op.create_table(
        "extras_tag",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("color", column_types.Chars(6), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_tag")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_tag_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_tag_slug")),
    )
    op.create_table(
        "extras_note",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("assigned_object_type", column_types.Chars(100), nullable=False),
        sa.Column("assigned_object_id", sa.Uuid(), nullable=False),
        sa.Column("note", column_types.LongText(), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_extras_note_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_note")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_note_slug")),
    )
    with op.batch_alter_table("extras_note", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_note_assigned_object_id"), ["assigned_object_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_note_assigned_object_type"), ["assigned_object_type"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_note_user_id"), ["user_id"], unique=False)

    op.create_table(
        "extras_secrets_group_association",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=False),
        sa.Column("access_type", column_types.Chars(32), nullable=False),
        sa.Column("secret_type", column_types.Chars(32), nullable=False),
        sa.Column("secret_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["extras_secrets_group.id"], name=op.f("fk_extras_secrets_group_association_group_id")),
        sa.ForeignKeyConstraint(["secret_id"], ["extras_secret.id"], name=op.f("fk_extras_secrets_group_association_secret_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_secrets_group_association")),
        sa.UniqueConstraint("group_id", "access_type", "secret_type", name=op.f("uq_extras_secrets_group_association_group_id_access_type_secret_type")),
    )
    with op.batch_alter_table("extras_secrets_group_association", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_secrets_group_association_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_secrets_group_association_secret_id"), ["secret_id"], unique=False)

    op.create_table(
        "extras_status_type",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["extras_status.id"], name=op.f("fk_extras_status_type_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_extras_status_type")),
    )
    with op.batch_alter_table("extras_status_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_status_type_label"), ["label"], unique=False)

    op.create_table(
        "extras_tag_type",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["extras_tag.id"], name=op.f("fk_extras_tag_type_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_extras_tag_type")),
    )
    with op.batch_alter_table("extras_tag_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_tag_type_label"), ["label"], unique=False)

    op.create_table(
        "extras_tagged_item",
        sa.Column("tag_id", sa.Uuid(), nullable=False),
        sa.Column("object_type", column_types.Chars(100), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["tag_id"], ["extras_tag.id"], name=op.f("fk_extras_tagged_item_tag_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tag_id", "object_type", "object_id", name=op.f("pk_extras_tagged_item")),
    )
    with op.batch_alter_table("extras_tagged_item", schema=None) as batch_op:
        batch_op.create_index("ix_extras_tagged_item_object", ["object_id", "object_type"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_tagged_item")
    op.drop_table("extras_tag_type")
    op.drop_table("extras_status_type")
    op.drop_table("extras_secrets_group_association")
    op.drop_table("extras_note")
    op.drop_table("extras_tag")
    op.drop_table("extras_status")
    op.drop_table("extras_secrets_group")
    op.drop_table("extras_secret")
    op.drop_table("extras_config_context_schema")
