"""The time limit of SQL statements: a connection of the service cancels those that take longer."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from netinv_core.db.engine import engine_from, is_timeout
from netinv_core.errors import Invalid
from netinv_core.read import listing
from tests.support.databases import ENDLESS


@pytest.fixture
def hurried(engine: Engine) -> Engine:
    """An engine for the same database, whose statements may take a fifth of a second."""
    return engine_from(engine.url.render_as_string(hide_password=False), 0.2)


def test_a_statement_that_takes_too_long_is_cancelled(hurried: Engine) -> None:
    """The error is known for what it is, and the connection serves the next statement."""
    with hurried.connect() as connection:
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.execute(ENDLESS).all()
        assert is_timeout(caught.value)
        connection.rollback()
        assert connection.execute(sa.text("SELECT 1")).scalar() == 1
    hurried.dispose()


def test_functions_of_a_statement_that_takes_too_long_stop(hurried: Engine) -> None:
    """Few instructions of the database may call functions that take long, as those of SQLite in Python do."""
    text = "repeat('A', 1000000)" if hurried.dialect.name != "sqlite" else "printf('%.*c', 1000000, 'A')"
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    with hurried.connect() as connection, pytest.raises(sa.exc.DBAPIError) as caught:
        connection.execute(
            sa.text(
                f"{numbers} SELECT count(*) FROM n a, n b WHERE lower(concat_ws('', {text}, CAST(a.i * b.i AS CHAR(9)))) = 'x'"
            )
        ).all()
    assert is_timeout(caught.value)
    hurried.dispose()


def test_conditions_of_clients_that_take_too_long_are_bad_input(hurried: Engine) -> None:
    """Where filters are evaluated, the answer is 400 with the reason."""
    with hurried.connect() as connection, pytest.raises(Invalid) as caught, listing.filter_errors_as_400():
        connection.execute(ENDLESS).all()
    assert caught.value.status == 400
    assert "in time" in str(caught.value.body)
    hurried.dispose()
