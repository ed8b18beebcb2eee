"""Unit of work: identity, session, API version, caches and change set of a request, an import or a command."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import pathlib
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.orm import Session

from netinv_core.changelog.change_set import ChangeSet
from netinv_core.db import read_positions
from netinv_core.driver import data_manager
from netinv_core.driver.sessions import REFUSALS
from netinv_core.miscalled import module_of
from netinv_core.models.base import now
from netinv_core.package_faults import log_faults
from netinv_core.patterns import Budget
from netinv_core.storage.files import Files

if TYPE_CHECKING:
    from netinv_core.aside import Aside
    from netinv_core.auth.account import Identity
    from netinv_core.db.replicas import ReadRoute
    from netinv_core.driver.read_connection import ReadConnection
    from netinv_core.read.name_lookup import NameQuery
    from netinv_core.records import ObjectWarning
    from netinv_core.registry import Registry
    from netinv_core.stored_answers import KeyedRequest
    from netinv_core.write.draft import Draft

_AFTER_COMMIT = "netinv: functions to call after the commit"
MAX_CONFIGURATION = 2000  # values that a process keeps: some for each user, menu and resource
_CHANGED_UNITS = "netinv: units of work with changes"


@event.listens_for(Session, "before_commit")
def _before_commit(session: Session) -> None:
    """Writes the change records of every unit of work on the session, so that no caller can forget it."""
    if _CHANGED_UNITS in session.info and session.get_nested_transaction() is None:
        for uow in session.info.pop(_CHANGED_UNITS).values():
            uow.write_changes()


@event.listens_for(Session, "after_commit")
def _after_commit(session: Session) -> None:
    if _AFTER_COMMIT in session.info and session.get_nested_transaction() is None:
        for function in session.info.pop(_AFTER_COMMIT).values():
            function()


@event.listens_for(Session, "after_rollback")
def _after_rollback(session: Session) -> None:
    if session.get_nested_transaction() is None:  # what was done before a savepoint stands
        session.info.pop(_AFTER_COMMIT, None)
        for uow in session.info.pop(_CHANGED_UNITS, {}).values():
            uow.forget_changes()


@dataclasses.dataclass(eq=False)
class Configuration:
    """The process's cache for the version of the configuration that a unit of work began with: ``number``.

    ``cached`` is ``None`` outside of requests and once the unit has changed it: it is read from the database each time.
    """

    cached: dict[Any, Any] | None = None
    number: int | None = None


@dataclasses.dataclass(frozen=True)
class _State:
    """State of a unit of work before a savepoint."""

    connection: sa.Connection
    after_commit: dict[Any, Callable[[], None]]
    revealed: dict[Any, str]
    cached: dict[Any, Any] | None
    deleting: Mapping[str, Collection[Any]]


@dataclasses.dataclass(eq=False)
class UnitOfWork:
    """State of one request, import or command.

    * ``base``: absolute URL of the service, without a trailing slash;
    * ``managed``: a transaction manager commits the session;
    * ``importing``: objects are written as they are elsewhere, so none are created along with them;
    * ``restoring``: deleted objects are written as they were, so none are created along with them;
    * ``outlining``: new objects are tried, too many to create those along with them;
    * ``is_system``: the service itself acts on behalf of the user;
    * ``author``: the user on whose behalf the unit has more permissions than they have; ``None`` where it has theirs;
    * ``guard_state``: what guards of changes keep (:mod:`netinv_core.changelog.guards`), by names of their own;
    * ``aside``: set while what is written is rolled back, and kept as proposals of a change request: no side effects;
    * ``deleting``: ids of the objects that the running deletion includes, by label;
    * ``row_cache``: what was read, until existing rows change: rows by table and id
      (:func:`netinv_core.read.listing.rows_of`), and results and locks by keys of the modules that add them;
    * ``new_drafts``: drafts of new objects by table and id, while further objects are created for them;
    * ``changing_drafts``: drafts of the batch that is validated, by table and id: rules see the state after it;
    * ``revealed``: values that only the answer to this request shows, such as the key of a new token, by id of the
      object;
    * ``deferred_lookups``: names in filters that are looked up later (:meth:`without_lookups`);
    * ``keyed_request``: the request's Idempotency-Key and stored answer (:mod:`netinv_core.stored_answers`);
    * ``read_route``: the way to a read replica, for a request that only reads (:mod:`netinv_core.db.replicas`);
    * ``read_connection``: the connection of a request that only reads, where it is not its session's;
    * ``sql_modules``: modules of the functions that gave conditions and orders to its statements, as keys.
    """

    registry: Registry
    session: Session
    identity: Identity
    base: str = ""
    version: str = ""
    request_id: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)
    writing: bool = False
    managed: bool = False
    importing: bool = False
    restoring: bool = False
    outlining: bool = False
    is_system: bool = False
    author: Identity | None = None
    guard_state: dict[Any, Any] = dataclasses.field(default_factory=dict)
    aside: Aside | None = None
    deleting: Mapping[str, Collection[Any]] = dataclasses.field(default_factory=dict)
    now: datetime.datetime = dataclasses.field(default_factory=now)
    row_cache: dict[Any, Any] = dataclasses.field(default_factory=dict)
    new_drafts: dict[Any, dict[Any, Draft]] = dataclasses.field(default_factory=dict)
    changing_drafts: dict[Any, Mapping[Any, Draft]] = dataclasses.field(default_factory=dict)
    revealed: dict[Any, str] = dataclasses.field(default_factory=dict)
    configuration: Configuration = dataclasses.field(default_factory=Configuration)
    deferred_lookups: list[NameQuery] | None = None
    keyed_request: KeyedRequest | None = None
    read_route: ReadRoute | None = None
    read_connection: ReadConnection | None = None
    executed: list[tuple[Any, Any, Sequence[Any]]] | None = None  # statements, values, conditions, while they are kept
    sql_modules: dict[str, None] = dataclasses.field(default_factory=dict)
    _pattern_budget: Budget | None = None
    _change_sets: list[ChangeSet] = dataclasses.field(default_factory=list)
    _connection: sa.Connection | None = None
    _primary: Session | None = None
    _files: Files | None = None

    def after_commit(self, function: Callable[[], None], name: Any = None) -> None:
        """Registers a function to call after the commit.

        A rollback removes it, and a second one with the same ``name`` replaces it. Failures of plugins are logged.
        """
        self.session.info.setdefault(_AFTER_COMMIT, {})[name or object()] = log_faults(self.registry, function)

    def cached_config(self, name: Any, load: Callable[[UnitOfWork], Any]) -> Any:
        """The result of ``load(uow)``, cached for the version of the configuration (resources with
        ``configuration=True``).

        Without the process's cache it is cached in this unit of work until rows change.
        """
        cached = self.row_cache if self.configuration.cached is None else self.configuration.cached
        counts = self.registry.configuration_counts
        value = cached.get(name, counts)
        if value is not counts:
            counts.hits += 1
            return value
        counts.misses += 1
        value = cached[name] = load(self) if self._primary is None else self._load_from_primary(load)
        if cached is self.configuration.cached and len(cached) > MAX_CONFIGURATION:
            cached.pop(next(iter(cached)), None)
        return value

    def _load_from_primary(self, load: Callable[[UnitOfWork], Any]) -> Any:
        """The result of ``load``: the version of the configuration is the primary's, and a replica may not have it."""
        assert self._primary is not None
        reader = copy.copy(self)
        reader.session, reader._primary, reader._connection = self._primary, None, None
        try:
            return load(reader)
        finally:
            Session.close(self._primary)  # returns the connection to the pool

    # -- change records

    @property
    def change_set(self) -> ChangeSet:
        """The changes so far. They are written by the commit of the session's transaction."""
        self._write_changes_at_commit()
        return self._change_sets[-1]

    def _write_changes_at_commit(self) -> None:
        if not self._change_sets:
            self._change_sets.append(ChangeSet())
        self.session.info.setdefault(_CHANGED_UNITS, {})[id(self._change_sets)] = self  # copies share the list

    @contextlib.contextmanager
    def collecting(self) -> Iterator[ChangeSet]:
        """Collects the changes of the block apart, to be dropped or merged later (:meth:`ChangeSet.merge`)."""
        self._write_changes_at_commit()
        inner = ChangeSet()
        self._change_sets.append(inner)
        try:
            yield inner
        finally:
            self._change_sets.remove(inner)

    @contextlib.contextmanager
    def deletion_of(self, objects: Mapping[str, Collection[Any]]) -> Iterator[None]:
        """Context manager that sets :attr:`deleting` to the ids of ``objects``, by label, and then resets it."""
        before, self.deleting = self.deleting, objects
        try:
            yield
        finally:
            self.deleting = before

    @contextlib.contextmanager
    def savepoint(self) -> Iterator[ChangeSet]:
        """Runs the block in a savepoint, which an error rolls back; yields the change set of the block.

        After an error, rows, files, functions for after the commit, caches and revealed values are as before. Otherwise
        the changes that the block has not written itself are added to those of the unit.
        """
        with self._savepoint(release=True) as change_set:
            yield change_set
        self.change_set.merge(change_set)

    @contextlib.contextmanager
    def rolled_back(self) -> Iterator[ChangeSet]:
        """Runs the block in a savepoint that is always rolled back; yields the change set of the block.

        Everything is afterwards as after an error in :meth:`savepoint`. A commit within the block is an error.
        """
        with self._savepoint(release=False) as change_set:
            yield change_set

    @contextlib.contextmanager
    def _savepoint(self, *, release: bool) -> Iterator[ChangeSet]:
        """Runs the block in a savepoint. It is rolled back after an error, and without ``release``."""
        self._write_changes_at_commit()
        before = self._state()
        if not release and before.cached is not None:
            self.configuration.cached = dict(before.cached)  # keeps the block's values out of the process's cache
        savepoint = self.session.begin_nested()
        self.session.connection()  # issues SAVEPOINT, which the session puts off until its connection is requested
        try:
            with self.collecting() as change_set:
                yield change_set
            savepoint.commit() if release else savepoint.rollback()
        except BaseException:
            with contextlib.suppress(sa.exc.SQLAlchemyError):  # a deadlock has ended the savepoint with its transaction
                savepoint.rollback()
            self._restore(before)
            raise
        if not release:
            self._restore(before)

    def _state(self) -> _State:
        after_commit = dict(self.session.info.get(_AFTER_COMMIT, {}))
        return _State(self.connection, after_commit, dict(self.revealed), self.configuration.cached, self.deleting)

    def _restore(self, before: _State) -> None:
        """Resets what a savepoint does not roll back."""
        self.session.info[_AFTER_COMMIT] = before.after_commit
        self.revealed.clear()
        self.revealed.update(before.revealed)
        self.configuration.cached, self.deleting, self._connection = before.cached, before.deleting, before.connection
        self.expire_all()

    @property
    def warnings(self) -> list[ObjectWarning]:
        """Warnings about the objects written so far, each once, without those of what was rolled back."""
        return list(dict.fromkeys(warning for change_set in self._change_sets for warning in change_set.warnings))

    def write_changes(self) -> None:
        """Writes the records of the changes so far.

        :raises RuntimeError: within a :meth:`collecting` block, whose changes would be lost
        """
        if len(self._change_sets) > 1:
            raise RuntimeError("a transaction is committed while changes are collected, which would go unrecorded")
        self._change_sets[0].write(self)

    def forget_changes(self) -> None:
        """Clears the change sets after a rollback."""
        for change_set in self._change_sets:
            change_set.clear()

    # -- settings, files and connection

    @property
    def settings(self) -> Mapping[str, Any]:
        """The typed settings of the service, by name without ``netinv.``; those that packages declare, too."""
        return self.registry.settings

    @property
    def files(self) -> Files:
        """The files that columns refer to. Additions and deletions follow the session's transaction."""
        if self._files is None:
            self._files = Files(pathlib.Path(self.registry.settings["media_root"]), self.session)
        return self._files

    @property
    def pattern_budget(self) -> Budget:
        """The processor time left for the regular expressions and JSON schemas of users."""
        if self._pattern_budget is None:
            self._pattern_budget = Budget(self.registry.settings["pattern_timeout"])
        return self._pattern_budget

    @property
    def connection(self) -> sa.Connection:
        """The session's connection, or that of :attr:`read_connection`."""
        if self.read_connection is not None:
            return self.read_connection.whole
        if self._connection is None:
            options = self.registry.driver.connection_options(writing=self.writing)
            self._connection = self.session.connection(execution_options=options)
            vars(self._connection).update(REFUSALS)
        return self._connection

    def read_from(self, session: Session, connection: sa.Connection) -> None:
        """Runs further statements on a read replica: on a session and its connection."""
        self._primary, self.session, self._connection = self.session, session, connection
        Session.close(self._primary)  # returns the connection to the pool

    def read_from_primary(self) -> None:
        """Runs further statements on the primary again, for what follows the writes of others at once."""
        if self._primary is not None:
            Session.close(self.session)
            self.session, self._primary, self._connection = self._primary, None, None

    def write_in_savepoints(self) -> None:
        """Runs further statements of a request that only reads on a connection that may write.

        Its session follows no transaction manager: what it writes is rolled back when the unit of work is closed.
        """
        self.read_from_primary()
        self.release()
        self.read_connection, self.read_route, self.writing = None, None, True

    def close(self) -> None:
        """Returns the connections to their pools."""
        if self.read_connection is not None:
            self.read_connection.close()
        if self.read_connection is None or self.session.in_transaction():
            Session.close(self.session)
        if self._primary is not None:
            Session.close(self._primary)

    def interrupt(self) -> None:
        """Has the database end the statement that another thread runs on this unit of work, where it can."""
        found = self.read_connection if self.read_connection is not None else self._connection
        if found is not None and not found.closed:
            self.registry.driver.interrupt(found.connection.driver_connection)

    def leave_connections(self, session: Session, read_connection: ReadConnection | None) -> None:
        """Runs further statements of a request that only reads on other connections: another thread uses the present
        ones, through a copy of the unit of work, and closes them.
        """
        self.session, self.read_connection = session, read_connection
        self._connection = self._primary = self.read_route = None
        self.row_cache, self.new_drafts = {}, {}

    def release(self) -> None:
        """Returns the connection to the pool, for a unit of work that waits.

        The next statement takes a connection again.
        """
        Session.close(self.session)
        self._connection = None
        if self.read_connection is not None:
            self.read_connection.close()
        self.expire_all()

    def as_system(self) -> Self:
        """A copy for actions of the service on behalf of the user: every permission, recorded with the user's name."""
        system = copy.copy(self)
        system.author = self.author or self.identity
        system.identity, system.is_system = dataclasses.replace(self.identity, superuser=True, can_write=True), True
        return system

    def as_restoration(self) -> Self:
        """A copy for deleted objects that are written as they were: none are created along with them."""
        restoring = copy.copy(self)
        restoring.restoring = True
        return restoring

    def as_outline(self) -> Self:
        """A copy that tries new objects without those that would be created along with them."""
        outlining = copy.copy(self)
        outlining.outlining = True
        return outlining

    @property
    def creates_along(self) -> bool:
        """True when further objects are created along with new ones."""
        return not (self.importing or self.restoring or self.outlining)

    def without_lookups(self) -> Self:
        """A copy for building conditions without SELECTs for names: these become subqueries
        (:mod:`netinv_core.read.name_lookup`).

        Only the configuration is read, once.
        """
        deferring = copy.copy(self)
        cached = self.configuration.cached
        deferring.deferred_lookups, deferring.configuration = [], Configuration({} if cached is None else cached)
        return deferring

    def expire_all(self) -> None:
        """Clears the caches of rows and new drafts, after rows have changed or a savepoint was rolled back."""
        self.row_cache.clear()
        self.new_drafts.clear()

    def release_new_drafts(self, table: Any, keys: Iterable[Any]) -> None:
        """Removes drafts whose further objects are created. After the last of them all caches are cleared."""
        drafts = self.new_drafts.get(table, {})
        for key in keys:
            drafts.pop(key, None)
        if not any(self.new_drafts.values()):
            self.expire_all()

    def execute(self, statement: Any, values: Any = None, *, where: Sequence[Any] = ()) -> Any:
        """Runs a statement for these values of its parameters, or for those of each of many rows (a list).

        The driver of the database knows how (:mod:`netinv_core.driver`). A statement that changes rows marks a
        managed session as changed, so that it is committed.

        :param where: further conditions, for a SELECT that the caller keeps for other requests
        """
        if statement.is_dml:
            if not statement.is_insert:  # INSERTs change no cached row
                self.expire_all()
            self._mark_changed()
        if self.executed is not None:
            self.executed.append((statement, values, where))
        connection = self.read_connection or self.connection
        result = self.registry.driver.execute(connection, statement, values, where)
        if statement.is_dml and statement.table in self.registry.configuration_tables and result.rowcount:
            self.configuration.cached = None  # what is read from here on is not committed yet
        return result

    def note_sql_of(self, function: Callable[..., Any]) -> None:
        """Notes that a function, which may be of a plugin, gives SQL to a statement, and may be why that fails."""
        self.sql_modules[module_of(function)] = None

    def note_write_of(self, account: uuid.UUID | None) -> None:
        """Makes later reads of an account have what this transaction writes, from whichever replica they are."""
        if account is not None and self.registry.settings["database_read_urls"]:
            read_positions.record_after_commit(self, account)

    def _mark_changed(self) -> None:
        """Marks a managed session as changed, and the account as one that has written."""
        if self.managed:
            data_manager.mark_changed(self.session)
        self.note_write_of(self.identity.user_id)
