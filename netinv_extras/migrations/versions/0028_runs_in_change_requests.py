"""runs of jobs in change requests"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "extras_0028"
down_revision = "extras_0027"

TABLE, REQUEST = "extras_job_result", "fk_extras_job_result_proposed_in_id"


def upgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.add_column(sa.Column("proposed_in_id", sa.Uuid(), nullable=True))
        batch_op.add_column(sa.Column("proposed_changes", sa.Integer(), nullable=True))
        batch_op.create_index(batch_op.f("ix_extras_job_result_proposed_in_id"), ["proposed_in_id"], unique=False)
        batch_op.create_foreign_key(batch_op.f(REQUEST), "extras_change_request", ["proposed_in_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f(REQUEST), type_="foreignkey")
        batch_op.drop_index(batch_op.f("ix_extras_job_result_proposed_in_id"))
        batch_op.drop_column("proposed_changes")
        batch_op.drop_column("proposed_in_id")
