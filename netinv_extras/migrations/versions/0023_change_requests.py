"""change requests and the changes that they propose"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0023"
down_revision = "extras_0022"


def upgrade() -> None:
    op.create_table(
        "extras_change_request",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("title", column_types.Chars(200), nullable=False),
        sa.Column("description", column_types.LongText(), nullable=False),
        sa.Column("due", column_types.Timestamp(), nullable=True),
        sa.Column("state", column_types.Chars(16), nullable=False),
        sa.Column("creates", sa.Integer(), nullable=False),
        sa.Column("updates", sa.Integer(), nullable=False),
        sa.Column("deletes", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("merged", column_types.Timestamp(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_extras_change_request_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_change_request")),
    )
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_change_request_user_id"), ["user_id"], unique=False)

    op.create_table(
        "extras_proposal",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("change_request_id", sa.Uuid(), nullable=False),
        sa.Column("object_type", column_types.Chars(100), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.Column("object_repr", column_types.Chars(200), nullable=False),
        sa.Column("action", column_types.Chars(50), nullable=False),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("time", column_types.Timestamp(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("states", column_types.Binary(), nullable=False),
        sa.Column("memberships", column_types.Json(), nullable=True),
        sa.ForeignKeyConstraint(
            ["change_request_id"], ["extras_change_request.id"], name=op.f("fk_extras_proposal_change_request_id")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_proposal")),
        sa.UniqueConstraint(
            "change_request_id",
            "object_type",
            "object_id",
            name=op.f("uq_extras_proposal_change_request_id_object_type_object_id"),
        ),
    )


def downgrade() -> None:
    op.drop_table("extras_proposal")
    op.drop_table("extras_change_request")
