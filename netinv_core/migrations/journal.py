"""Journal of the statements of migrations, for databases that commit each statement that changes a table.

MariaDB and MySQL cannot roll such statements back: a migration that is broken off leaves some of its changes. The
journal has the number of the statement that was begun last. The next run leaves out the statements before it. It was
run as a whole or not at all: it is run again, and an error is ignored that says that it was run before. Changes of rows
are committed together with the number of the next statement. One that the database refused was not run, and may be
another one in the next run: the journal has the digest of the statements before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic.ddl.mysql import MariaDBImpl, MySQLImpl
from sqlalchemy.engine import Connection

# Errors of a statement that was run before: a table, column, index, key or constraint that is there, or is not there
# any more (https://mariadb.com/kb/en/mariadb-error-code-reference/).
_RUN_BEFORE = frozenset({1022, 1050, 1051, 1060, 1061, 1068, 1091, 1826})
_CANNOT_CREATE = 1005
JOURNAL = sa.table(
    "netinv_migration_journal",
    sa.column("branch", sa.String(100)),
    sa.column("revision", sa.String(100)),
    sa.column("statement", sa.Integer()),
    sa.column("digest", sa.String(64)),
)
_CREATE = f"""CREATE TABLE IF NOT EXISTS {JOURNAL.name} (
    branch VARCHAR(100) NOT NULL PRIMARY KEY, revision VARCHAR(100) NOT NULL, statement INTEGER NOT NULL,
    digest VARCHAR(64) NOT NULL
)"""


class Journal:
    """Journal of the migrations of one branch. Its table is there while migrations are applied or are broken off."""

    def __init__(self, connection: Connection, branch: str) -> None:
        self.connection, self.branch = connection, branch
        connection.exec_driver_sql(_CREATE)
        row = connection.execute(sa.select(JOURNAL).where(JOURNAL.c.branch == branch)).first()
        self._begun = row.statement if row is not None else 0  # by the run that was broken off
        self._begun_digest = row.digest if row is not None else ""
        self._is_kept = row is not None
        self._revision, self._number, self._digest = "", 0, hashlib.sha256()
        self._former_revision = row.revision if row is not None else ""

    def start(self, revision: str) -> None:
        """Begins with the migration after ``revision``, of which the journal may have statements.

        :raises LookupError: when it has statements of a migration after another revision
        """
        if self._begun and revision != self._former_revision:
            message = (
                f"a migration of {self.branch} after {self._former_revision or 'nothing'} was broken off, but the"
                f" database has the revision {revision or 'none'}: restore the backup"
            )
            raise LookupError(message)
        self._revision = revision

    def run(self, statement: str, execute: Callable[[], Any]) -> Any:
        """Executes the next statement of a migration, unless a former run did.

        :raises LookupError: when the statements are not those of the run that was broken off
        """
        self._number += 1
        digest_before = self._digest.hexdigest()
        self._digest.update(statement.encode() + b"\0")
        if self._number < self._begun:
            return None
        if self._number > self._begun or digest_before == self._begun_digest:
            self._write(self._digest.hexdigest())
            try:
                return execute()
            except sa.exc.DBAPIError as error:
                if not error.connection_invalidated:
                    self._write(digest_before)
                raise
            except LookupError:  # refused before it was sent
                self._write(digest_before)
                raise
        if self._digest.hexdigest() != self._begun_digest:
            message = (
                f"a migration of {self.branch} after {self._revision or 'nothing'} was broken off with others,"
                " by another version or command: go on with that, or restore the backup"
            )
            raise LookupError(message)
        try:
            return execute()
        except sa.exc.DBAPIError as error:
            if not _was_run_before(error):
                raise
            return None

    def _write(self, digest: str) -> None:
        """Commits the number of the statement that is begun, with the changes of rows before it.

        :param digest: of the statements up to this one; of those before it, if the database refused it
        """
        values = {"revision": self._revision, "statement": self._number, "digest": digest}
        if self._is_kept:
            self.connection.execute(sa.update(JOURNAL).where(JOURNAL.c.branch == self.branch).values(values))
        else:
            self.connection.execute(sa.insert(JOURNAL).values(branch=self.branch, **values))
        self._is_kept = True
        self._commit()

    def end(self, revision: str) -> None:
        """Ends a migration: the revision that it wrote is committed, and the statements begin anew."""
        self.connection.execute(sa.delete(JOURNAL).where(JOURNAL.c.branch == self.branch))
        self._commit()
        self._is_kept, self._begun, self._number, self._digest = False, 0, 0, hashlib.sha256()
        self._revision = revision

    def _commit(self) -> None:
        # Not by SQLAlchemy: the transaction that it has begun is that of Alembic.
        self.connection.exec_driver_sql("COMMIT")


def _was_run_before(error: sa.exc.DBAPIError) -> bool:
    """True for the error of a statement whose change was made before."""
    code, text = (*(error.orig.args if error.orig is not None else ()), None, None)[:2]
    # MariaDB reports a foreign key that is there as a table that it cannot create, because of a duplicate key.
    return code in _RUN_BEFORE or (code == _CANNOT_CREATE and "errno: 121" in str(text))


def is_broken_off(connection: Connection, branch: str) -> bool:
    """True for a branch with statements of a migration that was broken off."""
    connection.exec_driver_sql(_CREATE)
    return connection.execute(sa.select(JOURNAL).where(JOURNAL.c.branch == branch)).first() is not None


def forget(connection: Connection, branch: str) -> None:
    """Deletes what the journal has of a branch, and an empty journal."""
    connection.execute(sa.delete(JOURNAL).where(JOURNAL.c.branch == branch))
    if connection.execute(sa.select(JOURNAL).limit(1)).first() is None:
        drop(connection)


def drop(connection: Connection) -> None:
    """Drops the table of the journal."""
    connection.exec_driver_sql(f"DROP TABLE IF EXISTS {JOURNAL.name}")


class _Journaled:
    """Adds the journal, if the context has one, to an implementation of Alembic: all operations of migrations execute
    their statements by ``_exec``.
    """

    context_opts: Any
    dialect: Any

    def _exec(self, construct: Any, *args: Any, **kwargs: Any) -> Any:
        implementation: Any = super()
        journal: Journal | None = self.context_opts.get("journal")
        if journal is None:
            return implementation._exec(construct, *args, **kwargs)
        text = construct if isinstance(construct, str) else str(construct.compile(dialect=self.dialect))
        return journal.run(text, lambda: implementation._exec(construct, *args, **kwargs))


class JournaledMariaDB(_Journaled, MariaDBImpl):
    """Operations on MariaDB, which a journal can go on with."""

    __dialect__ = "mariadb"


class JournaledMySQL(_Journaled, MySQLImpl):
    """Operations on MySQL, which a journal can go on with."""

    __dialect__ = "mysql"
