"""memberships of deleted objects in change records"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from netinv_core.models import types as column_types

revision = "core_0006"
down_revision = "core_0005"


def upgrade() -> None:
    op.add_column("core_object_change", sa.Column("memberships", column_types.Json(), nullable=True))


def downgrade() -> None:
    op.drop_column("core_object_change", "memberships")
