"""Execution of statements: on PostgreSQL they are compiled once, and run as prepared statements of psycopg."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Connection, Engine

from netinv_core import caches
from netinv_core.auth.models import Group, User
from netinv_core.content_types import ContentTypeRow
from netinv_core.db.engine import engine_from, inlined_int
from netinv_core.db.expressions import in_parameter
from netinv_core.driver import direct, driver_of, structures, undocumented
from netinv_core.driver.read_connection import ReadConnection
from netinv_core.models.base import table_of
from netinv_testing import Api, Service, Unique

TIMES = 8  # psycopg prepares a statement when it runs for the sixth time
SITES = "/api/dcim/sites/"
EXECUTIONS = ["", "?execution=direct", "?execution=sqlalchemy"]
groups = table_of(Group)
types_table = table_of(ContentTypeRow)


def is_direct(engine: Engine) -> bool:
    return direct.is_chosen(engine)


@contextlib.contextmanager
def reading(engine: Engine) -> Iterator[Connection | ReadConnection]:
    """A connection as requests that only read have it."""
    connection = driver_of(engine).read_connection(engine) or engine.connect()
    try:
        yield connection
    finally:
        connection.close()


def run(connection: Any, statement: Any, values: Any = None) -> list[Any]:
    """The rows of a statement by the driver of the connection."""
    return [tuple(row) for row in driver_of(connection).execute(connection, statement, values).tuples()]


def first_row(connection: Any, statement: Any, values: Any = None) -> Any:
    """The first row of a statement, with attributes."""
    return driver_of(connection).execute(connection, statement, values).first()


@contextlib.contextmanager
def runs_without_cursor(engine: Engine) -> Iterator[list[bool]]:
    """Notes of each statement that it ran without a cursor of the driver."""
    noted: list[bool] = []

    def note(connection: Any, cursor: Any, *_: Any) -> None:
        noted.append(type(cursor).__name__ == "PreparedStatements")

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield noted
    finally:
        event.remove(engine, "before_cursor_execute", note)


def select_by_name(engine: Engine) -> sa.Select[Any]:
    """A SELECT with a sign that drivers double, a parameter that it has twice, and one of its own."""
    named = sa.or_(in_parameter(groups.c.name), groups.c.name == sa.bindparam("other"))
    either = sa.or_(named, sa.and_(groups.c.name != sa.bindparam("other"), groups.c.name.like("%\t%")))
    return sa.select(groups.c.id, groups.c.name).where(either).order_by(groups.c.name)


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


@pytest.mark.night
def test_rows_are_the_same_however_often_a_select_ran(service: Service, unique: Unique) -> None:
    """The parameters may differ each time. In a transaction it sees what that wrote."""
    engine = service.engine
    if not is_direct(engine):  # its transactions that write have an option
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
            assert run(connection, select, one) == [first]
            assert run(connection, select, both) == [first, second]
            assert first_row(connection, select, {"keys": [], "other": second[1]}).name == second[1]
            assert first_row(connection, select, {"keys": [], "other": unique()}) is None
    assert any(noted) is is_direct(engine)


def test_lists_of_ids_are_packed_as_the_driver_packs_them(service: Service) -> None:
    """Before and after the statement is prepared, one id or many."""
    users = table_of(User)
    select = sa.select(users.c.id).where(in_parameter(users.c.id))
    stored = {row[0] for row in service.rows(sa.select(users.c.id))}
    others = [uuid.UUID(int=number) for number in (0, 1, 2**127, 2**128 - 1)]
    with reading(service.engine) as connection, runs_without_cursor(service.engine) as noted:
        for keys in [[*stored, *others], [*stored], [*stored][:1], others] * TIMES:
            found = {row[0] for row in run(connection, select, {"keys": keys})}
            assert found == stored & set(keys)
    assert noted[-1] is is_direct(service.engine)


def test_a_rollback_forgets_prepared_statements(service: Service, unique: Unique) -> None:
    """The driver deallocates them with it."""
    select = select_by_name(service.engine)
    values = {"keys": [], "other": unique()}
    with service.engine.connect() as connection, runs_without_cursor(service.engine) as noted:
        for _ in range(2):
            for _ in range(TIMES):
                assert run(connection, select, values) == []
            connection.connection.rollback()
    assert noted[TIMES - 1] is is_direct(service.engine)
    assert noted[TIMES] is False


def test_a_failing_statement_leaves_its_connection_usable(service: Service) -> None:
    """Its error is SQLAlchemy's, prepared or not. The value that fails is one for PostgreSQL alone."""
    quotient = sa.select(sa.literal(1).op("/")(sa.bindparam("by", type_=sa.Integer)).label("result"))
    failing = [0] if is_direct(service.engine) else []
    with reading(service.engine) as connection, runs_without_cursor(service.engine) as noted:
        for by in [*failing, *[1] * TIMES, *failing]:
            if by:
                assert run(connection, quotient, {"by": by}) == [(1,)]
            else:
                with pytest.raises(sa.exc.DBAPIError):
                    run(connection, quotient, {"by": by})
        assert first_row(connection, quotient, {"by": 1}).result == 1
    assert noted[-1] is is_direct(service.engine)


def test_a_prepared_select_begins_the_transaction(service: Service, unique: Unique) -> None:
    """BEGIN is sent with it; what is written after it can be rolled back."""
    engine = service.engine
    if not is_direct(engine):  # its transactions that write have an option
        engine = engine.execution_options(netinv_writing=True)
    select = select_by_name(service.engine)
    name = unique()
    values = {"keys": [name], "other": unique()}
    with engine.connect() as connection, runs_without_cursor(service.engine) as noted:
        for _ in range(TIMES):
            with connection.begin():
                assert run(connection, select, values) == []
        noted.clear()
        with connection.begin() as transaction:
            assert run(connection, select, values) == []
            assert (noted == [True]) is is_direct(service.engine)
            connection.execute(sa.insert(groups), {"name": name})
            assert [row[1] for row in run(connection, select, values)] == [name]
            transaction.rollback()
        with connection.begin():
            assert run(connection, select, values) == []


def test_a_prepared_select_that_fails_at_the_beginning_leaves_its_connection_usable(service: Service) -> None:
    """Its transaction is rolled back as one that failed later."""
    if not is_direct(service.engine):  # others divide by zero
        return
    quotient = sa.select(sa.literal(1).op("/")(sa.bindparam("by", type_=sa.Integer)).label("result"))
    with service.engine.connect() as connection, runs_without_cursor(service.engine) as noted:
        for _ in range(TIMES):
            with connection.begin():
                assert first_row(connection, quotient, {"by": 1}).result == 1
        with connection.begin() as transaction:
            with pytest.raises(sa.exc.DataError, match="division by zero"):
                run(connection, quotient, {"by": 0})
            assert noted[-1]
            with pytest.raises(sa.exc.InternalError, match="aborted"):
                run(connection, quotient, {"by": 1})
            transaction.rollback()
        with connection.begin():
            assert first_row(connection, quotient, {"by": 1}).result == 1


def test_requests_that_only_read_share_the_pool(service: Service, api: Api, unique: Unique) -> None:
    """Each returns its connection, and finds what others committed in between."""
    for number in range(TIMES):
        name = f"{unique()}-{number}"
        group = api.post("/api/users/groups/", {"name": name}, status=201)
        assert api.get(f"/api/users/groups/{group['id']}/")["name"] == name
    pool: Any = service.engine.pool
    assert not hasattr(pool, "checkedout") or pool.checkedout() == 0


def built(keys: list[Any], text: str, limit: int) -> Any:
    """A SELECT as requests build them: a list of values, one value, one given when it is executed, an inlined limit."""
    depth = sa.select(groups.c.id, sa.literal(0).label("depth")).where(groups.c.id.in_(keys)).cte(recursive=True)
    deeper = sa.select(depth.c.id, (depth.c.depth + 1).label("depth")).where(depth.c.depth < len(text))
    depth = depth.union_all(deeper)
    found = sa.or_(groups.c.name.in_([text, *map(str, keys)]), groups.c.name == sa.bindparam("given"))
    statement = sa.select(groups.c.id, groups.c.name, sa.func.count(depth.c.id)).where(found)
    statement = statement.join_from(groups, depth, depth.c.id == groups.c.id, isouter=True)
    return statement.group_by(groups.c.id).order_by(groups.c.name).limit(inlined_int("limit", limit))


def test_selects_of_one_structure_keep_their_own_values(service: Service, api: Api, unique: Unique) -> None:
    """They differ in lists, their lengths, texts and limits. Rows are those of SQLAlchemy's execution."""
    names = sorted(unique() for _ in range(3))
    ids = [api.post("/api/users/groups/", {"name": name}, status=201)["id"] for name in names]
    with service.unit_of_work() as uow, reading(service.engine) as connection:
        uow.read_connection = connection if isinstance(connection, ReadConnection) else None
        for keys, text, given, limit in [
            ([], names[0], "", 5),
            (ids[:1], names[0], names[1], 5),
            (ids, "", names[2], 5),
            (ids[1:], names[1], names[0], 5),
            (ids[2:], names[2], names[0], 1),
            *[(ids[:1], names[2], names[1], 2)] * TIMES,
        ]:
            values = {"given": given}
            expected = [tuple(row) for row in uow.connection.execute(built(keys, text, limit), values)]
            found = [tuple(row) for row in uow.execute(built(keys, text, limit), values)]
            assert found == expected
            assert {row[1] for row in found} <= {text, given}
            assert len(found) == min(limit, len({text, given} - {""}))


@pytest.mark.night
def test_texts_of_long_lists_of_values_are_bounded_by_their_size() -> None:
    """One for thousands of values has a megabyte."""
    structure = None
    for number in range(5000, 5040):
        statement = built([uuid.uuid4()] * number, "a", 5)
        bound = undocumented.structure_key(statement).bindparams
        structure = structure or structures.Structure(statement, postgresql.dialect(), [item.key for item in bound])
        text, parameters = structure.execution(dict(zip(structure.keys, bound, strict=True)), {"given": "b"})
        assert len(parameters) > 2 * number
    assert structures._bytes((text, {})) > 400_000
    (found,) = [(weight, size) for name, weight, size in caches.weights() if name == "texts"]
    assert found[0] <= found[1] < 2 * found[0]


def test_an_insert_of_many_rows_tells_listeners_of_its_error(service: Service, unique: Unique) -> None:
    name, failures, driver = unique(), [], driver_of(service.engine)

    def note(failure: Any) -> None:
        failures.append(type(failure.sqlalchemy_exception))

    insert = sa.insert(groups)
    event.listen(service.engine, "handle_error", note)
    try:
        with service.engine.connect() as connection:
            driver.execute(connection, insert, [{"name": f"{name} {number}"} for number in range(2)])
            stored = connection.execute(sa.select(groups.c.name).where(groups.c.name.like(f"{name}%"))).scalars()
            assert sorted(stored) == [f"{name} 0", f"{name} 1"]
            with pytest.raises(sa.exc.IntegrityError):
                driver.execute(connection, insert, [{"name": name}, {"name": name}])
            connection.rollback()
    finally:
        event.remove(service.engine, "handle_error", note)
    assert failures == [sa.exc.IntegrityError]


# -- without the undocumented names of SQLAlchemy and psycopg


@contextlib.contextmanager
def without(name: str, service: Service) -> Iterator[None]:
    """A release whose prepared statements have no names, for new connections."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(undocumented, name, "_not_in_this_release")
        service.engine.dispose()
        yield
    service.engine.dispose()


@contextlib.contextmanager
def by_sqlalchemy(service: Service) -> Iterator[None]:
    """An engine for a URL with ``?execution=sqlalchemy``, or of releases that lack a name."""
    service.engine.update_execution_options(**{direct.DIRECT: False})
    try:
        yield
    finally:
        service.engine.update_execution_options(**{direct.DIRECT: True})


@pytest.mark.parametrize("name", ["PREPARED", "NAMES", ""])
def test_answers_are_the_same_in_each_way_of_execution(service: Service, api: Api, unique: Unique, name: str) -> None:
    """Statements of which psycopg tells no names run on cursors; without a ``name`` SQLAlchemy runs them."""
    if not is_direct(service.engine):  # the others run by SQLAlchemy
        return

    def answers(word: str) -> list[Any]:
        groups = "/api/users/groups/"
        made = api.post(groups, [{"name": f"{word} {number}"} for number in range(3)], status=201)
        found: list[Any] = [item["name"] for item in made]
        for item in made * TIMES:
            found.append(api.get(f"{groups}{item['id']}/")["name"])
            found.append(api.patch(f"{groups}{item['id']}/", {"name": f"{item['name']}?"})["name"])
        changed = api.patch(groups, [{"id": item["id"], "name": f"{item['name']}!"} for item in made])
        found += [item["name"] for item in changed]
        for limit in range(1, TIMES):
            page = api.get(f"{groups}?name__ic={word}&limit={limit}")
            found += [page["count"], *(item["name"] for item in page["results"])]
        api.delete(groups, [{"id": item["id"]} for item in made], status=204)
        found.append(api.get(f"{groups}?name__ic={word}")["results"])
        return [str(answer).replace(word, "…") for answer in found]

    with runs_without_cursor(service.engine) as noted:
        expected = answers(unique())
    assert any(noted)
    other = without(name, service) if name else by_sqlalchemy(service)
    with other, runs_without_cursor(service.engine) as noted:
        assert answers(unique()) == expected
    assert noted and not any(noted)


@pytest.mark.parametrize("absent", ["psycopg.generators:none", "psycopg.none:execute", "sqlalchemy:Select.none"])
def test_sqlalchemy_runs_the_statements_where_a_release_lacks_a_name(
    absent: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert undocumented.missing_names() == []
    monkeypatch.setitem(undocumented.TAKEN, absent, "is needed")
    engine = engine_from("postgresql://127.0.0.1/netinv")
    assert not direct.is_chosen(engine) and driver_of("postgresql").read_connection(engine) is None
    assert absent in caplog.text


def test_a_url_names_a_known_way_of_execution() -> None:
    chosen = [direct.is_chosen(engine_from(f"postgresql://127.0.0.1/netinv{query}")) for query in EXECUTIONS]
    assert chosen == [True, True, False]
    with pytest.raises(ValueError, match="execution=fast"):
        engine_from("postgresql://127.0.0.1/netinv?execution=fast")


def test_a_result_that_nobody_reads_to_its_end_holds_no_snapshot(service: Service, api: Api, unique: Unique) -> None:
    """On SQLite an open cursor keeps the state that its connection reads, and the connection cannot write."""
    kept = []
    for _ in range(4):  # connections of the pool
        with service.app.registry.netinv_sessions() as session:
            kept.append(iter(session.execute(sa.select(types_table.c.id))))
            next(kept[-1])
    site = api.post(SITES, {"name": unique(), "slug": unique(), "status": "active"})
    assert api.get(SITES, {"id": site["id"]})["count"] == 1
