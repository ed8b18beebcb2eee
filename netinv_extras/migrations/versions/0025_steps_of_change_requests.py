"""comments of change requests in their records, and the time of the last change of what they propose"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0025"
down_revision = "extras_0024"

TABLE, EVENTS = "extras_change_request", "extras_change_request_event"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(sa.Column("proposed", column_types.Timestamp(), nullable=True))
        batch_op.add_column(sa.Column("comment_count", sa.Integer(), nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("last_comment", column_types.LongText(), nullable=True))
    requests = sa.table(
        TABLE, *map(sa.column, ("id", "proposed", "last_updated", "comment_count", "last_comment"))
    )
    events = sa.table(EVENTS, sa.column("change_request_id"), sa.column("text"))
    counted = (
        sa.select(sa.func.count())
        .where(events.c.change_request_id == requests.c.id, events.c.text != "")
        .scalar_subquery()
    )
    values = {"proposed": requests.c.last_updated, "comment_count": counted, "last_comment": ""}
    op.execute(sa.update(requests).values(values))
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.alter_column("comment_count", existing_type=sa.Integer(), server_default=None)
        batch_op.alter_column("last_comment", existing_type=column_types.LongText(), nullable=False)


def downgrade() -> None:
    requests = sa.table(TABLE, sa.column("state"))
    op.execute(sa.update(requests).where(requests.c.state == "reverted").values(state="merged"))
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        for name in ("last_comment", "comment_count", "proposed"):
            batch_op.drop_column(name)
