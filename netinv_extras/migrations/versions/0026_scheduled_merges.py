"""times at which the worker merges change requests"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0026"
down_revision = "extras_0025"

TABLE, MERGER = "extras_change_request", "fk_extras_change_request_merger_id"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(sa.Column("merge_at", column_types.Timestamp(), nullable=True))
        batch_op.add_column(sa.Column("merger_id", sa.Uuid(), nullable=True))
        batch_op.create_index(batch_op.f("ix_extras_change_request_merge_at"), ["merge_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_change_request_merger_id"), ["merger_id"], unique=False)
        batch_op.create_foreign_key(batch_op.f(MERGER), "core_user", ["merger_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f(MERGER), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_extras_change_request_merger_id"))
        batch_op.drop_index(batch_op.f("ix_extras_change_request_merge_at"))
        batch_op.drop_column("merger_id")
        batch_op.drop_column("merge_at")
