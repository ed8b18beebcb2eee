"""What every operation of the core works in: who asks, on which session, at which API version."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import datetime
import pathlib
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sa
import zope.sqlalchemy
from sqlalchemy import event
from sqlalchemy.orm import Session

from netinv_core.changelog.change_set import ChangeSet
from netinv_core.db.engine import options_for
from netinv_core.models.base import now
from netinv_core.patterns import Budget
from netinv_core.storage.files import Files

if TYPE_CHECKING:
    from netinv_core.auth.identity import Identity
    from netinv_core.read.name_lookup import NameQuery
    from netinv_core.registry import Registry
    from netinv_core.write.draft import Draft


_AFTER_COMMIT = "netinv: what is called after the commit"
_CHANGED_UNITS = "netinv: contexts that changed something"


@event.listens_for(Session, "before_commit")
def _before_commit(session: Session) -> None:
    """Writes the change records of every unit of work on the session: nobody else has to."""
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
    """What a unit of work knows of the configuration: the process's cache for the version that it began with, or ``None``, read anew each time.

    It is ``None`` where there was no request, and once the unit has changed the configuration itself.
    """

    cached: dict[Any, Any] | None = None


@dataclasses.dataclass(eq=False)
class UnitOfWork:
    """One unit of work: a request, an import or a command.

    ``base`` is the absolute URL of the service without a trailing slash; ``managed`` says that a transaction manager
    commits the session; ``seen`` keeps the rows that were looked up (:func:`netinv_core.read.listing.rows_of`), ``made`` the new
    objects that other objects are still being made for, both by table and id, until rows change that were there before;
    ``copying`` that what is written is known as a whole elsewhere (an import), so that nothing is made along with it;
    ``leaving`` holds the ids of what a running deletion takes along, by label; ``own`` marks what the service itself does because of the user;
    ``revealed`` holds what only the answer to this request shows, such as the key of a new token, by the id of the object;
    ``naming`` collects what filters name where nothing is looked up (:meth:`without_lookups`).
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
    is_system: bool = False
    deleting: Mapping[str, Collection[Any]] = dataclasses.field(default_factory=dict)
    now: datetime.datetime = dataclasses.field(default_factory=now)
    row_cache: dict[Any, Any] = dataclasses.field(default_factory=dict)
    new_drafts: dict[Any, dict[Any, Draft]] = dataclasses.field(default_factory=dict)
    revealed: dict[Any, str] = dataclasses.field(default_factory=dict)
    configuration: Configuration = dataclasses.field(default_factory=Configuration)
    deferred_lookups: list[NameQuery] | None = None
    _pattern_budget: Budget | None = None
    _journals: list[ChangeSet] = dataclasses.field(default_factory=lambda: [ChangeSet()])
    _connection: sa.Connection | None = None
    _files: Files | None = None

    def after_commit(self, function: Callable[[], None], name: Any = None) -> None:
        """Has ``function`` called once the transaction is committed; when it is not, the function is forgotten.

        Of several functions with one ``name`` the last is called.
        """
        self.session.info.setdefault(_AFTER_COMMIT, {})[name or object()] = function

    def cached_config(self, name: Any, load: Callable[[UnitOfWork], Any]) -> Any:
        """What ``load`` finds in the configuration (resources that say so: ``configuration=True``), found once for a version of it.

        A unit of work without the process's cache finds it again only after rows have changed.
        """
        cached = self.row_cache if self.configuration.cached is None else self.configuration.cached
        if name not in cached:
            cached[name] = load(self)
        return cached[name]

    # -- change records

    @property
    def change_set(self) -> ChangeSet:
        """The changes so far. They are written by the commit of the session's transaction."""
        self.session.info.setdefault(_CHANGED_UNITS, {})[id(self._journals)] = self  # copies of a context share the list
        return self._journals[-1]

    @contextlib.contextmanager
    def collecting(self) -> Iterator[ChangeSet]:
        """Collects the changes of the block apart, for one who may drop them or add them to the others later (:meth:`ChangeSet.merge`)."""
        inner = ChangeSet()
        self._journals.append(inner)
        try:
            yield inner
        finally:
            self._journals.remove(inner)

    def write_changes(self) -> None:
        """Writes the records of the changes so far.

        :raises RuntimeError: within a block that collects changes: nobody could write those
        """
        if len(self._journals) > 1:
            raise RuntimeError("a transaction is committed while changes are being collected, which would go unrecorded")
        self._journals[0].write(self)

    def forget_changes(self) -> None:
        """Forgets the changes: their transaction was rolled back."""
        for journal in self._journals:
            journal.clear()

    # -- files and connection

    @property
    def files(self) -> Files:
        """The files that rows name; what becomes of them follows the session's transaction."""
        if self._files is None:
            self._files = Files(pathlib.Path(self.registry.settings["media_root"]), self.session)
        return self._files

    @property
    def pattern_budget(self) -> Budget:
        """The processor time left for the regular expressions and JSON schemas of users."""
        if self._pattern_budget is None:
            self._pattern_budget = Budget(self.registry.settings.get("pattern_timeout", 1.0))
        return self._pattern_budget

    @property
    def connection(self) -> sa.Connection:
        """The session's connection."""
        if self._connection is None:
            options = options_for(self.registry.dialect, writing=self.writing)
            self._connection = self.session.connection(execution_options=options)
        return self._connection

    def release(self) -> None:
        """Gives the connection back, for one that waits while others need it; what is asked for next takes one again."""
        self.session.close()
        self._connection = None
        self.expire_all()

    def as_system(self) -> Self:
        """The same unit of work for what the service itself does because of the user: all is permitted, and recorded as the user's."""
        found = copy.copy(self)
        found.identity, found.is_system = dataclasses.replace(self.identity, superuser=True), True
        return found

    def without_lookups(self) -> Self:
        """The same unit of work for making conditions that look up what they name themselves (:mod:`netinv_core.read.name_lookup`).

        Of the database only the configuration is asked, once.
        """
        found = copy.copy(self)
        found.deferred_lookups, found.configuration = [], Configuration(self.configuration.cached if self.configuration.cached is not None else {})
        return found

    def expire_all(self) -> None:
        """Lets go of all that is known of rows: they changed, or their making was taken back."""
        self.row_cache.clear()
        self.new_drafts.clear()

    def release_new_drafts(self, table: Any, keys: Iterable[Any]) -> None:
        """Notes that nothing more is made for these objects; after the last of them nothing need be known any longer."""
        made = self.new_drafts.get(table, {})
        for key in keys:
            made.pop(key, None)
        if not any(self.new_drafts.values()):
            self.expire_all()

    def execute(self, statement: Any, parameters: Any = None) -> Any:
        """Runs a SELECT."""
        return self.connection.execute(statement, parameters)

    def write(self, statement: Any, parameters: Any = None) -> Any:
        """Runs a statement that changes rows; a session that follows a transaction manager will then commit."""
        if not (statement.is_insert or statement.is_select):  # new rows change none that is known; what selects only adds some on the way
            self.expire_all()
        if self.managed:
            zope.sqlalchemy.mark_changed(self.session)
        return self.connection.execute(statement, parameters)
