"""Export templates, and Git repositories with their syncs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core import columns

revision = "extras_0012"
down_revision = "extras_0011"


def upgrade() -> None:
    op.create_table(
        "extras_export_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("content_type", columns.Chars(100), nullable=False),
        sa.Column("owner_content_type", columns.Chars(100), nullable=True),
        sa.Column("owner_object_id", sa.Uuid(), nullable=True),
        sa.Column("name", columns.Chars(100), nullable=False),
        sa.Column("description", columns.Chars(200), nullable=False),
        sa.Column("template_code", columns.LongText(), nullable=False),
        sa.Column("mime_type", columns.Chars(50), nullable=False),
        sa.Column("file_extension", columns.Chars(15), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", columns.Timestamp(), nullable=False),
        sa.Column("custom_field_data", columns.Json(), nullable=False),
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
        sa.Column("name", columns.Chars(100), nullable=False),
        sa.Column("slug", columns.Chars(100), nullable=False),
        sa.Column("remote_url", columns.Chars(255), nullable=False),
        sa.Column("branch", columns.Chars(64), nullable=False),
        sa.Column("token", columns.LongText(), nullable=False),
        sa.Column("username", columns.Chars(64), nullable=False),
        sa.Column("secrets_group_id", sa.Uuid(), nullable=True),
        sa.Column("current_head", columns.Chars(48), nullable=False),
        sa.Column("provided_contents", columns.Json(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", columns.Timestamp(), nullable=False),
        sa.Column("custom_field_data", columns.Json(), nullable=False),
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
        sa.Column("object_type", columns.Chars(100), nullable=False),
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
        sa.Column("wanted", columns.Timestamp(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("user_name", columns.Chars(150), nullable=False),
        sa.Column("claimed_by", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", columns.Timestamp(), nullable=True),
        sa.Column("started", columns.Timestamp(), nullable=True),
        sa.Column("finished", columns.Timestamp(), nullable=True),
        sa.Column("head", columns.Chars(48), nullable=False),
        sa.Column("error", columns.LongText(), nullable=False),
        sa.Column("report", columns.Json(), nullable=True),
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
