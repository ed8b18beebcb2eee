"""Errors of databases after which a request is run again."""

from __future__ import annotations

import pymysql
import pytest
import sqlalchemy as sa
import transaction

from netinv_core.db.engine import engine_from, session_factory
from netinv_core.driver.data_manager import joined_session


@pytest.mark.parametrize(("number", "expected"), [(1213, True), (1205, False)])
def test_deadlocks_of_mysql_are_retried_once_its_engine_is_there(number: int, expected: bool) -> None:
    engine_from("mysql+pymysql://nobody@127.0.0.1:1/none").dispose()
    manager = transaction.TransactionManager(explicit=True)
    manager.begin()
    session = joined_session(session_factory(sa.create_engine("sqlite://")), manager)
    session.execute(sa.text("SELECT 1"))
    error = sa.exc.OperationalError("SELECT 1", {}, pymysql.err.OperationalError(number, "an error"))
    assert bool(manager.get().isRetryableError(error)) is expected
    manager.abort()
