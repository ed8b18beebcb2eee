"""plans and the objects of their owners"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0019"
down_revision = "extras_0018"


def upgrade() -> None:
    op.create_table(
        "extras_plan",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", column_types.Chars(100), nullable=False),
        sa.Column("objects", column_types.Json(), nullable=False),
        sa.Column("match", column_types.Json(), nullable=True),
        sa.Column("state", column_types.Chars(16), nullable=False),
        sa.Column("creates", sa.Integer(), nullable=False),
        sa.Column("updates", sa.Integer(), nullable=False),
        sa.Column("deletes", sa.Integer(), nullable=False),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.Column("applied", column_types.Timestamp(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("changes", column_types.Json(), nullable=False),
        sa.Column("digests", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_extras_plan_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_plan")),
    )
    with op.batch_alter_table("extras_plan") as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_plan_owner"), ["owner"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_plan_created"), ["created"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_plan_user_id"), ["user_id"], unique=False)
    op.create_table(
        "extras_plan_owned_object",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner", column_types.Chars(100), nullable=False),
        sa.Column("object_type", column_types.Chars(100), nullable=False),
        sa.Column("object_id", sa.Uuid(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_plan_owned_object")),
        sa.UniqueConstraint("owner", "object_type", "object_id", name=op.f("uq_extras_plan_owned_object_owner_object_type_object_id")),
    )
    with op.batch_alter_table("extras_plan_owned_object") as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_plan_owned_object_object_id"), ["object_id"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_plan_owned_object")
    op.drop_table("extras_plan")
