"""sessions are deleted with their accounts"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "web_0004"
down_revision = "web_0003"

TABLE, USER = "web_session", "fk_web_session_user_id"


def upgrade() -> None:
    _refer(ondelete="CASCADE")


def downgrade() -> None:
    _refer(ondelete=None)


def _refer(ondelete: str | None) -> None:
    """Replaces the foreign key."""
    with op.batch_alter_table(TABLE, schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f(USER), type_="foreignkey")
        batch_op.create_foreign_key(batch_op.f(USER), "core_user", ["user_id"], ["id"], ondelete=ondelete)
