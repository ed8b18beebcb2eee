"""packed states of change records

Records that are there stay as they are: ``netinv upkeep`` packs them while the service runs.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from netinv_core.changelog.packing import PARTS, unpack
from netinv_core.models import types as column_types

revision = "core_0015"
down_revision = "core_0014"

TABLE, NUMBERING = "core_object_change", "core_change_numbering"
CHUNK = 1000  # records unpacked at once


def upgrade() -> None:
    with op.batch_alter_table(TABLE) as batch_op:
        batch_op.add_column(sa.Column("states", column_types.Binary(), nullable=True))
        batch_op.alter_column("object_data", existing_type=column_types.Json(), nullable=True)
    op.add_column(NUMBERING, sa.Column("unpacked", sa.BigInteger(), nullable=False, server_default="0"))
    waiting = sa.text(f"SELECT count(*) FROM {TABLE} WHERE number IS NULL").columns(sa.column("n", sa.BigInteger()))
    numbering = sa.table(NUMBERING, sa.column("given"), sa.column("unpacked"))
    # Records without a number are older than those to come, so they get the next numbers.
    op.execute(sa.update(numbering).values(unpacked=numbering.c.given + waiting.scalar_subquery()))


def downgrade() -> None:
    _unpack()
    with op.batch_alter_table(TABLE) as batch_op:
        batch_op.alter_column("object_data", existing_type=column_types.Json(), nullable=False)
        batch_op.drop_column("states")
    op.drop_column(NUMBERING, "unpacked")


def _unpack() -> None:
    """Writes the states of packed records to the columns of their own."""
    types: dict[str, Any] = {
        "id": sa.Uuid(),
        "changed_object_id": sa.Uuid(),
        "states": column_types.Binary(),
        **dict.fromkeys(PARTS, column_types.Json()),
    }
    table = sa.table(TABLE, *(sa.column(name, type_) for name, type_ in types.items()))
    connection = op.get_bind()
    written = {name: sa.bindparam(f"new_{name}", type_=column_types.Json()) for name in PARTS}
    restore = sa.update(table).where(table.c.id == sa.bindparam("key")).values(states=None, **written)
    columns = table.c.id, table.c.changed_object_id, table.c.states
    chunk = sa.select(*columns).where(table.c.states.is_not(None)).limit(CHUNK)
    while rows := connection.execute(chunk).all():
        packed = {row.id: row.states + row.changed_object_id.bytes for row in rows}
        values = [{"key": key} | {f"new_{name}": unpack(item, name) for name in PARTS} for key, item in packed.items()]
        connection.execute(restore, values)
