"""room for claims on the pages of deliveries

A claim changes no indexed column. With room on the page of the row, its new version is in no index either.
"""

from __future__ import annotations

from alembic import op

revision = "extras_0021"
down_revision = "extras_0020"
TABLE = "extras_webhook_delivery"


def upgrade() -> None:
    _set("SET (fillfactor = 80)")


def downgrade() -> None:
    _set("RESET (fillfactor)")


def _set(parameter: str) -> None:
    if op.get_context().dialect.name == "postgresql":  # holds for new pages; the table is not written anew
        op.execute(f"ALTER TABLE {TABLE} {parameter}")
