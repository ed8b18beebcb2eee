"""device types from Git repositories"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "dcim_0005"
down_revision = "dcim_0004"


def upgrade() -> None:
    op.create_table(
        "dcim_git_device_type",
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("repository_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["device_type_id"],
            ["dcim_device_type.id"],
            name=op.f("fk_dcim_git_device_type_device_type_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["extras_git_repository.id"],
            name=op.f("fk_dcim_git_device_type_repository_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("device_type_id", name=op.f("pk_dcim_git_device_type")),
    )
    with op.batch_alter_table("dcim_git_device_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_git_device_type_repository_id"), ["repository_id"], unique=False)


def downgrade() -> None:
    op.drop_table("dcim_git_device_type")
