"""SELECTs of several packages in one statement, in which that of a plugin may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.availability import is_away, is_busy

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

OwnedSelect = tuple[str, Any]  # a package and its SELECT


def rows_of_all(uow: UnitOfWork, selects: Sequence[OwnedSelect], what: str) -> list[Any]:
    """The rows of SELECTs, by one UNION ALL; by a statement for each of them where that fails.

    The SELECT of a plugin that fails is left out then, which is logged (as ``what``) and counted.

    :raises SQLAlchemyError: of a SELECT of a built-in application, of a database that is away or busy, and while the
        unit of work writes
    """
    if not selects:
        return []
    statements = [statement for _, statement in selects]
    try:
        return list(uow.execute(sa.union_all(*statements) if len(statements) > 1 else statements[0]).tuples())
    except sa.exc.SQLAlchemyError as error:
        has_plugins = any(uow.registry.is_plugin(package) for package, _ in selects)
        if not has_plugins or uow.writing or is_away(error) or is_busy(error):
            raise
    uow.release()  # a failed statement ends the transaction of PostgreSQL
    rows: list[Any] = []
    for package, statement in selects:
        try:
            rows += uow.execute(statement).tuples()
        except sa.exc.SQLAlchemyError as error:
            uow.registry.leave_out(package, error, what, uow)
    return rows
