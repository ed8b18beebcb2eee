"""states and events of the review of change requests"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0024"
down_revision = "extras_0023"


def upgrade() -> None:
    op.create_table(
        "extras_change_request_event",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("change_request_id", sa.Uuid(), nullable=False),
        sa.Column("kind", column_types.Chars(16), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("time", column_types.Timestamp(), nullable=False),
        sa.Column("text", column_types.LongText(), nullable=False),
        sa.Column("counts", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["change_request_id"],
            ["extras_change_request.id"],
            name=op.f("fk_extras_change_request_event_change_request_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_change_request_event")),
    )
    with op.batch_alter_table("extras_change_request_event", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_extras_change_request_event_change_request_id"), ["change_request_id"], unique=False
        )
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.add_column(sa.Column("approvals", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("authors", column_types.Json(), nullable=True))
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.alter_column("approvals", existing_type=sa.Integer(), server_default=None)
    requests = sa.table("extras_change_request", sa.column("state"))
    op.execute(sa.update(requests).where(requests.c.state == "open").values(state="draft"))


def downgrade() -> None:
    requests = sa.table("extras_change_request", sa.column("state"))
    opened = ("draft", "submitted", "approved", "rejected")
    op.execute(sa.update(requests).where(requests.c.state.in_(opened)).values(state="open"))
    with op.batch_alter_table("extras_change_request", schema=None) as batch_op:
        batch_op.drop_column("authors")
        batch_op.drop_column("approvals")
    op.drop_table("extras_change_request_event")
