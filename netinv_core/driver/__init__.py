"""Execution of SQL statements: one driver for each kind of database.

Callers build statements of SQLAlchemy and give them to :meth:`netinv_core.uow.UnitOfWork.execute`, or with a connection
to :meth:`Driver.execute <netinv_core.driver.general.Driver.execute>`. Only this package knows how they are run:

* ``general``: by SQLAlchemy, on MariaDB, MySQL (``mariadb``), SQLite (``sqlite``), and on PostgreSQL where the database
  URL asks for it;
* ``direct``: on the connection of psycopg, with texts that are compiled once (``structures``), and without a cursor
  once the server has prepared them (``prepared``);
* ``undocumented``: what ``direct`` takes of SQLAlchemy and psycopg that their documentation does not promise. Without
  it SQLAlchemy runs the statements.
"""

from __future__ import annotations

from sqlalchemy.engine import Connection, Engine

from netinv_core.driver.general import Driver as Driver
from netinv_core.driver.mariadb import MariadbDriver
from netinv_core.driver.postgresql import PostgresqlDriver
from netinv_core.driver.sqlite import SqliteDriver

_DRIVERS: dict[str, Driver] = {
    "postgresql": PostgresqlDriver("postgresql"),
    "mysql": MariadbDriver("mysql"),
    "mariadb": MariadbDriver("mysql"),
    "sqlite": SqliteDriver("sqlite"),
    "default": Driver("default"),  # of texts of statements that are not for a database
}


def driver_of(database: str | Driver | Engine | Connection) -> Driver:
    """The driver for the databases of a dialect, given by its name, or by an engine or connection; or as it is."""
    if isinstance(database, Driver):
        return database
    return _DRIVERS[database if isinstance(database, str) else database.dialect.name]
