"""SELECTs that are compiled once: on PostgreSQL they run as prepared statements of the driver's connection."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine

from netinv_core.auth.models import Group
from netinv_core.db.engine import in_parameter
from netinv_core.db.read_connection import ReadConnection
from netinv_core.db.row_select import RowSelect
from netinv_core.models.base import table_of
from netinv_core.testing import Api, Service, Unique

TIMES = 8  # psycopg prepares a statement when it runs for the sixth time
SITES = "/api/dcim/sites/"
groups = table_of(Group)


def is_postgresql(engine: Engine) -> bool:
    return engine.dialect.name == "postgresql"


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection | ReadConnection]:
    """A connection as requests that only read have it."""
    connection = ReadConnection(engine) if is_postgresql(engine) else engine.connect()
    try:
        yield connection
    finally:
        connection.close()


@contextlib.contextmanager
def runs_without_cursor(engine: Engine) -> Iterator[list[bool]]:
    """Notes of each statement that it ran without a cursor of the driver."""
    noted: list[bool] = []

    def note(connection: Any, cursor: Any, *_: Any) -> None:
        noted.append(type(cursor).__name__ == "PreparedSelects")

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(engine, "before_cursor_execute", note)


def select_by_name(engine: Engine) -> RowSelect:
    """A SELECT with a sign that drivers double, a parameter that it has twice, and one of its own."""
    named = sa.or_(in_parameter(engine.dialect.name, groups.c.name), groups.c.name == sa.bindparam("other"))
    either = sa.or_(named, sa.and_(groups.c.name != sa.bindparam("other"), groups.c.name.like("%\t%")))
    return RowSelect(sa.select(groups.c.id, groups.c.name).where(either).order_by(groups.c.name))


@contextlib.contextmanager
def two_groups(connection: Connection, unique: Unique) -> Iterator[list[tuple[uuid.UUID | int, str]]]:
    """Two groups in a transaction that is rolled back."""
    names = sorted([f"100% {unique()}", unique()])
    with connection.begin() as transaction:
        connection.execute(sa.insert(groups), [{"name": name} for name in names])
        rows = connection.execute(
            sa.select(groups.c.id, groups.c.name).where(groups.c.name.in_(names)).order_by(groups.c.name)
        ).all()
        yield [(row[0], row[1]) for row in rows]
        transaction.rollback()


def test_rows_are_the_same_however_often_a_select_ran(service: Service, unique: Unique) -> None:
    """The parameters may differ each time. In a transaction it sees what that wrote."""
    engine = service.engine
    if not is_postgresql(engine):  # its transactions that write have an option
        engine = engine.execution_options(netinv_writing=True)
    with (
        engine.connect() as connection,
        runs_without_cursor(service.engine) as noted,
        two_groups(connection, unique) as (first, second),
    ):
        select = select_by_name(service.engine)
        for _ in range(TIMES):
            one = {"keys": [first[1]], "other": ""}
            both = {"keys": [first[1], unique()], "other": second[1]}
            assert [tuple(row) for row in select.rows(connection, one)] == [first]
            assert [tuple(row) for row in select.rows(connection, both)] == [first, second]
            assert select.first(connection, {"keys": [], "other": second[1]}).name == second[1]
            assert select.first(connection, {"keys": [], "other": unique()}) is None
    assert any(noted) is is_postgresql(engine)


def test_a_rollback_forgets_prepared_statements(service: Service, unique: Unique) -> None:
    """The driver deallocates them with it."""
    select = select_by_name(service.engine)
    values = {"keys": [], "other": unique()}
    with service.engine.connect() as connection, runs_without_cursor(service.engine) as noted:
        for _ in range(2):
            for _ in range(TIMES):
                assert list(select.rows(connection, values)) == []
            connection.connection.rollback()
    assert noted[TIMES - 1] is is_postgresql(service.engine)
    assert noted[TIMES] is False


def test_a_failing_statement_leaves_its_connection_usable(service: Service) -> None:
    """Its error is SQLAlchemy's, prepared or not. The value that fails is one for PostgreSQL alone."""
    quotient = RowSelect(sa.select(sa.literal(1).op("/")(sa.bindparam("by", type_=sa.Integer)).label("result")))
    failing = [0] if is_postgresql(service.engine) else []
    with reading(service.engine) as connection, runs_without_cursor(service.engine) as noted:
        for by in [*failing, *[1] * TIMES, *failing]:
            if by:
                assert [list(row) for row in quotient.rows(connection, {"by": by})] == [[1]]
            else:
                with pytest.raises(sa.exc.DBAPIError):
                    quotient.rows(connection, {"by": by})
        assert quotient.first(connection, {"by": 1}).result == 1
    assert noted[-1] is is_postgresql(service.engine)


def test_requests_that_only_read_share_the_pool(service: Service, api: Api, unique: Unique) -> None:
    """Each returns its connection, and finds what others committed in between."""
    for number in range(TIMES):
        name = f"{unique()}-{number}"
        group = api.post("/api/users/groups/", {"name": name}, status=201)
        assert api.get(f"/api/users/groups/{group['id']}/")["name"] == name
    pool: Any = service.engine.pool
    assert not hasattr(pool, "checkedout") or pool.checkedout() == 0
