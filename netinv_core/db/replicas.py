"""Read replicas: streaming standbys of PostgreSQL (``netinv.database_read_urls``), from which requests that only read
are answered.

Accounts, tokens, sessions and permissions are read from the primary: what is revoked ends at once. The same statement
returns the position of the account's last write (:mod:`netinv_core.db.read_positions`). A replica in use is asked, in
place of the test of its connection, how far it has replayed the log; one that has not got there is passed over, and the
primary is read in the end. One thread for each replica probes it once in :data:`INTERVAL`: an unreachable, lagging or
promoted one is left out until a probe finds it well. A request that loses its replica runs again on the primary.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import logging
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.orm import Session

from netinv_core.db import availability, read_positions
from netinv_core.db.engine import engine_from, session_factory
from netinv_core.driver import driver_of
from netinv_core.driver.sessions import close
from netinv_core.telemetry import metrics

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
INTERVAL = 1.0  # seconds between two probes
TRUSTED = 3.0  # seconds for which a probe counts
CONNECT_TIMEOUT = 2  # seconds
POOL_TIMEOUT = 1.0  # seconds to wait for a free connection
SILENCE = 5  # seconds without an acknowledgement by TCP, after which a connection is lost
MAX_TRIED = 2  # replicas that one request asks for their position
MAX_SAMPLES = 1_000
UP, LAGGING, UNREACHABLE = "ok", "lagging", "unreachable"
PROMOTED, FOREIGN, UNKNOWN = "not a standby", "not a copy of the primary", "unknown"
PRIMARY = "primary"  # label of reads from the primary
# SQLSTATE: conflict with recovery, write in a read-only transaction, table or column that is not replicated yet.
_NOT_HERE = re.compile(r"40001|40P01|25006|42P01|42703")
_STANDBY = sa.select(
    sa.func.pg_is_in_recovery().label("standby"),
    sa.func.coalesce(read_positions.REPLAYED, 0).label("position"),
)
_system = sa.select(sa.literal_column("system_identifier")).select_from(sa.func.pg_control_system()).scalar_subquery()
_STANDBY_PROBE = _STANDBY.add_columns(_system.label("system"))
_PRIMARY_PROBE = sa.select(
    read_positions.CURRENT.label("position"), _system.label("system"), read_positions.has_common.label("has_common")
)
_AUTOCOMMIT = driver_of("postgresql").connection_options(writing=False)


@dataclasses.dataclass(frozen=True)
class ReplicaStatus:
    """The result of a probe: :data:`UP` or what is wrong, the lag in seconds, and when it was found (monotonic)."""

    state: str = UNKNOWN
    lag: float | None = None
    at: float = 0.0


class Replica:
    """A standby. ``name`` is its host, port and database."""

    def __init__(self, url: str, primary: Engine, settings: Mapping[str, Any]) -> None:
        pool = {"pool_size": settings["database_pool"], "max_overflow": 0, "pool_timeout": POOL_TIMEOUT}
        timeout = settings["statement_timeout"]
        self.engine = engine_from(url, timeout, CONNECT_TIMEOUT, silence=SILENCE, pool_pre_ping=False, **pool)
        address = self.engine.url
        self.name = f"{address.host or 'localhost'}:{address.port or 5432}/{address.database}"
        self.sessions = session_factory(self.engine)
        self.status = ReplicaStatus()
        self._primary, self._max_lag = primary, settings["database_read_lag"]
        self._missing: collections.deque[tuple[float, int]] = collections.deque()  # times and positions to be replayed

    @property
    def state(self) -> str:
        """The result of the last probe; :data:`UNKNOWN` when that is long ago."""
        status = self.status
        return status.state if time.monotonic() - status.at < TRUSTED else UNKNOWN

    @property
    def is_behind(self) -> bool:
        """True when it had not replayed at the last probe what the primary had written."""
        return bool(self._missing)

    def set_status(self, state: str, lag: float | None = None, reason: str = "") -> None:
        """Stores the result of a probe, and logs a change."""
        before, self.status = self.status.state, ReplicaStatus(state, lag, time.monotonic())
        metrics.REPLICA_UP.labels(self.name).set(state == UP)
        metrics.REPLICA_LAG.labels(self.name).set(-1 if lag is None else lag)
        if state != before:
            level = logging.INFO if state == UP else logging.WARNING
            log.log(level, "the replica %s is %s%s", self.name, state, f": {reason}" if reason else "")

    def leave_out(self, error: BaseException) -> None:
        """Leaves it out until a probe succeeds."""
        self.set_status(UNREACHABLE, reason=availability.reason(error))

    def probe(self) -> ReplicaStatus:
        """Asks the replica, then the primary, for their positions."""
        try:
            with self.engine.connect().execution_options(**_AUTOCOMMIT) as connection:
                found = connection.execute(_STANDBY_PROBE).one()
        except sa.exc.SQLAlchemyError as error:
            self.leave_out(error)
            return self.status
        try:
            with self._primary.connect().execution_options(**_AUTOCOMMIT) as connection:
                primary = connection.execute(_PRIMARY_PROBE).one()
                read_positions.provide_common(connection, exists=primary.has_common)
        except sa.exc.SQLAlchemyError as error:
            self.set_status(UNKNOWN, reason=f"the primary cannot be asked: {availability.reason(error)}")
            return self.status
        self._judge(found, primary)
        return self.status

    def _judge(self, found: Any, primary: Any) -> None:
        """Sets the status by the answers of both. The lag is the time since the primary was at the first position that
        the replica has not replayed: it needs no clock of theirs, and is 0 while nothing is written.
        """
        missing, moment = self._missing, time.monotonic()
        if len(missing) < MAX_SAMPLES:
            missing.append((moment, primary.position))
        while missing and missing[0][1] <= found.position:
            missing.popleft()
        lag = moment - missing[0][0] if missing else 0.0
        if not found.standby:
            self.set_status(PROMOTED)
        elif found.system != primary.system or found.position > primary.position:
            self.set_status(FOREIGN)
        else:
            self.set_status(LAGGING if lag > self._max_lag else UP, lag)

    def connection_at(self, position: int) -> tuple[Session, Connection] | None:
        """A session with its connection, once the replica has replayed the log up to ``position``; else ``None``."""
        session = self.sessions()
        try:
            connection = session.connection(execution_options=_AUTOCOMMIT)
            found = connection.execute(_STANDBY).one()
            if found.standby and found.position >= position:
                return session, connection
        except sa.exc.TimeoutError:
            log.warning("the replica %s has no free connection", self.name)
        except sa.exc.SQLAlchemyError as error:
            self.leave_out(error)
        close(session)
        return None


class Replicas:
    """The replicas of a process, used in turn."""

    def __init__(self, replicas: Sequence[Replica]) -> None:
        self.all = list(replicas)
        self._turns = itertools.count()
        self._starting = threading.Lock()
        self._process = 0
        self._stopped = threading.Event()

    def start(self) -> None:
        """Starts the probes, once in each process: threads do not survive a fork."""
        if self._process == os.getpid():
            return
        with self._starting:
            if self._process != os.getpid():
                self._process = os.getpid()
                read_positions.unrecorded.set()  # what was written before may not be recorded
                for replica in self.all:
                    name = f"netinv-replica-{replica.name}"
                    threading.Thread(target=self._watch, args=(replica,), name=name, daemon=True).start()

    def stop(self) -> None:
        """Ends the probes, and closes the connections."""
        self._stopped.set()
        for replica in self.all:
            replica.engine.dispose()

    def _watch(self, replica: Replica) -> None:
        while not self._stopped.is_set():
            try:
                replica.probe()
            except Exception:
                log.exception("the probe of the replica %s failed", replica.name)
            self._stopped.wait(INTERVAL)

    def _in_turn(self) -> Iterator[Replica]:
        turn = next(self._turns) % len(self.all)
        usable = (replica for replica in (*self.all[turn:], *self.all[:turn]) if replica.state == UP)
        return itertools.islice(usable, MAX_TRIED)

    def take(self, position: int | None) -> tuple[Replica, Session, Connection] | None:
        """A replica that has replayed the log up to ``position``, with a connection; ``None`` to read the primary."""
        self.start()
        for replica in self._in_turn() if position is not None else ():
            taken = replica.connection_at(position or 0)
            if taken is not None:
                metrics.READS.labels(replica.name).inc()
                return replica, *taken
        metrics.READS.labels(PRIMARY).inc()
        return None


@dataclasses.dataclass(eq=False)
class ReadRoute:
    """The way of a request that only reads: by the primary until its account is known, then by a replica."""

    replicas: Replicas
    needed: int | None = None
    replica: Replica | None = None

    def follow(self, uow: UnitOfWork) -> None:
        """Makes the further statements of a unit of work run on a replica that has the account's last write."""
        if uow.identity.user_id is None:
            return
        taken = self.replicas.take(self.needed)
        if taken is not None:
            self.replica, session, connection = taken
            uow.read_from(session, connection)

    def may_repeat(self, error: BaseException) -> bool:
        """True for an error of the replica that the primary would not have. An unreachable one is left out."""
        if self.replica is None or not isinstance(error, sa.exc.SQLAlchemyError):
            return False
        if availability.is_away(error):
            self.replica.leave_out(error)
            return True
        state = getattr(getattr(error, "orig", None), "sqlstate", None) or ""
        return _NOT_HERE.fullmatch(state) is not None


def replicas_for(primary: Engine, settings: Mapping[str, Any]) -> Replicas | None:
    """The replicas of the setting ``netinv.database_read_urls``; ``None`` without any.

    :raises ValueError: for URLs that cannot be used
    """
    urls = settings["database_read_urls"]
    if not urls:
        return None
    try:
        return Replicas([Replica(url, primary, settings) for url in urls])
    except (sa.exc.ArgumentError, ImportError) as error:
        raise ValueError(f"the setting netinv.database_read_urls cannot be used: {error}") from None
