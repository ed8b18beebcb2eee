"""config contexts remember the scopes that limit them, beyond the deletion of the objects in a scope"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0022"
down_revision = "extras_0021"
CONTEXTS = sa.table("extras_config_context", sa.column("id", sa.Uuid()), sa.column("limited_by", sa.Text()))
SCOPES = sa.table("extras_config_context_scope", sa.column("owner_id", sa.Uuid()), sa.column("scope", sa.Text()))


def upgrade() -> None:
    with op.batch_alter_table("extras_config_context") as batch_op:
        batch_op.add_column(sa.Column("limited_by", column_types.LongText(), nullable=True))
    connection = op.get_bind()
    names: dict[object, list[str]] = {}
    for owner, scope in connection.execute(sa.select(SCOPES.c.owner_id, SCOPES.c.scope).distinct()):
        names.setdefault(owner, []).append(scope)
    for owner, scopes in names.items():
        limited_by = " ".join(sorted(scopes))
        connection.execute(sa.update(CONTEXTS).where(CONTEXTS.c.id == owner).values(limited_by=limited_by))


def downgrade() -> None:
    with op.batch_alter_table("extras_config_context") as batch_op:
        batch_op.drop_column("limited_by")
