"""Export templates, and Git repositories with their syncs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0012"
down_revision = "extras_0011"


def upgrade() -> None:
    op.create_table(
        "extras_export_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("content_type", column_types.Chars(100), nullable=False),
        sa.Column("owner_content_type", column_types.Chars(100), nullable=True),
        sa.Column("owner_object_id", sa.Uuid(), nullable=True),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("template_code", column_types.LongText(), nullable=False),
        sa.Column("mime_type", column_types.Chars(50), nullable=False),
        sa.Column("file_extension", column_types.Chars(15), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_export_template")),
        sa.UniqueConstraint(
            "content_type",
            "name",
            "owner_content_type",
            "owner_object_id",
            name=op.f("uq_extras_export_template_content_type_name_owner_content_type_owner_object_id"),
        ),
    )
    with op.batch_alter_table("extras_export_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_export_template_owner_object_id"), ["owner_object_id"], unique=False)

    op.create_table(
        "extras_git_repository",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("remote_url", column_types.Chars(255), nullable=False),
        sa.Column("branch", column_types.Chars(64), nullable=False),
        sa.Column("token", column_types.LongText(), nullable=False),
        sa.Column("username", column_types.Chars(64), nullable=False),
        sa.Column("secrets_group_id", sa.Uuid(), nullable=True),
        sa.Column("current_head", column_types.Chars(48), nullable=False),
        sa.Column("provided_contents", column_types.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["secrets_group_id"], ["extras_secrets_group.id"], name=op.f("fk_extras_git_repository_secrets_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_git_repository")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_git_repository_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_extras_git_repository_slug")),
    )
    with op.batch_alter_table("extras_git_repository", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_git_repository_remote_url"), ["remote_url"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_git_repository_secrets_group_id"), ["secrets_group_id"], unique=False)

    op.create_table(
        "extras_git_local_context",
        sa.Column("object_type", column_types.Chars(100), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("repository_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["repository_id"], ["extras_git_repository.id"], name=op.f("fk_extras_git_local_context_repository_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("object_type", "object_id", name=op.f("pk_extras_git_local_context")),
    )
    with op.batch_alter_table("extras_git_local_context", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_git_local_context_repository_id"), ["repository_id"], unique=False)

    op.create_table(
        "extras_git_sync",
        sa.Column("repository_id", sa.Uuid(), nullable=False),
        sa.Column("wanted", column_types.Timestamp(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("claimed_by", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", column_types.Timestamp(), nullable=True),
        sa.Column("started", column_types.Timestamp(), nullable=True),
        sa.Column("finished", column_types.Timestamp(), nullable=True),
        sa.Column("head", column_types.Chars(48), nullable=False),
        sa.Column("error", column_types.LongText(), nullable=False),
        sa.Column("report", column_types.Json(), nullable=True),
        sa.ForeignKeyConstraint(["repository_id"], ["extras_git_repository.id"], name=op.f("fk_extras_git_sync_repository_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_extras_git_sync_user_id"), ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("repository_id", name=op.f("pk_extras_git_sync")),
    )
    with op.batch_alter_table("extras_git_sync", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_git_sync_user_id"), ["user_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_git_sync_wanted"), ["wanted"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_git_sync")
    op.drop_table("extras_git_local_context")
    op.drop_table("extras_git_repository")
    op.drop_table("extras_export_template")
