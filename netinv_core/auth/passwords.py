"""Signing in with a name and a password, guarded against guessing.

Every attempt is counted as a failure before the password is verified, and taken back when it was right, so that attempts made at the same time
are counted too. There are three counters for an attempt: of the account, of the client's address, and of the pair of them. A pair that was
right before (in the last :data:`REMEMBERED`) is held to its own counter alone: those who guess from elsewhere cannot lock its user out.

The counters are rows of one table, so all processes share them. A row is found by a keyed hash of what it counts, one of :data:`BUCKETS` for each
kind: names that nobody has cannot fill the table, and nobody can choose to share a counter with somebody else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import hashlib
import hmac
import ipaddress
import logging
import math
import threading
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql, sqlite

from netinv_core.auth import crypto
from netinv_core.auth.models import SignInCounter, User
from netinv_core.db.availability import is_busy
from netinv_core.db.engine import options_for
from netinv_core.errors import Denied, TooManyRequests
from netinv_core.models.base import now, table_of

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
ATTEMPTS = 5
BUCKETS = 2**16
ACCOUNT, ADDRESS, PAIR = range(3)
REMEMBERED = datetime.timedelta(days=30)
WRONG = "Invalid username/password."
_users, _counters = table_of(User), table_of(SignInCounter)
_by_name = sa.select(_users.c.id, _users.c.password, _users.c.is_active).where(_users.c.username == sa.bindparam("username"))
_counted = sa.select(_counters).where(_counters.c.bucket.in_(sa.bindparam("buckets", expanding=True)))


def sign_in(uow: UnitOfWork, username: str, password: str, address: str) -> uuid.UUID:
    """The id of the account whose name and password these are; ``address`` is the client's.

    It works in transactions of its own, before the unit of work has begun one: a failure is counted although the request is refused.

    :raises Denied: for a wrong password, an unknown or an inactive account, with the same text and after the same time
    :raises TooManyRequests: after too many failures, or while this process verifies as many passwords as it may
    """
    settings = uow.registry.settings
    with _turn(settings["password_checks"]):
        with _connection(uow, writing=False) as connection:
            account = _account(connection, username)
            buckets = _buckets(settings["secret"], str(account.id) if account else username.casefold(), _network(address))
            counters = {row.bucket: row for row in connection.execute(_counted, {"buckets": list(buckets.all)})}
        if (wait := _wait(settings, counters, buckets)) > 0:
            log.warning("sign-in refused for %s seconds: too many failures, from %s, of account %s", wait, _network(address), account and account.id)
            raise TooManyRequests(wait)
        _write(uow, _counting(uow.registry.dialect), _attempt(settings, buckets))
        if not crypto.verify_password(account.password if account else "", password) or not account.is_active:
            log.warning("sign-in failed, from %s, of account %s", _network(address), account and account.id)
            raise Denied(WRONG)
        _write(uow, _taking_back(), {"now": now(), **dataclasses.asdict(buckets)})
    found: uuid.UUID = account.id
    return found


@contextlib.contextmanager
def _turn(most: int) -> Iterator[None]:
    """Waits for one of ``most`` places; as many may wait, so that the server keeps threads for others.

    :raises TooManyRequests: when there are more
    """
    admitted, working = _places(most)
    if not admitted.acquire(blocking=False):
        raise TooManyRequests(1)
    try:
        with working:
            yield
    finally:
        admitted.release()


@functools.cache
def _places(most: int) -> tuple[threading.Semaphore, threading.Semaphore]:
    return threading.Semaphore(2 * most), threading.Semaphore(most)


@contextlib.contextmanager
def _connection(uow: UnitOfWork, *, writing: bool) -> Iterator[sa.Connection]:
    """A connection of its own, committed at the end."""
    engine: Any = uow.session.get_bind()
    with engine.connect().execution_options(**options_for(uow.registry.dialect, writing=writing)) as connection:
        yield connection
        connection.commit()


def _write(uow: UnitOfWork, statement: Any, parameters: Mapping[str, Any]) -> None:
    """Runs a statement in a transaction of its own, again when another one was in its way."""
    for left in reversed(range(ATTEMPTS)):
        try:
            with _connection(uow, writing=True) as connection:
                connection.execute(statement, parameters)
            return
        except sa.exc.DBAPIError as error:
            if not left or not is_busy(error):
                raise


def _account(connection: sa.Connection, username: str) -> Any:
    """The row of a user; ``None`` also for a name that no user can have and the database may not take."""
    if "\x00" in username or len(username) > 150:
        return None
    return connection.execute(_by_name, {"username": username}).first()


# -- counters


@dataclasses.dataclass(frozen=True)
class Buckets:
    """The keys of the three counters of an attempt."""

    account: int
    address: int
    pair: int

    @property
    def all(self) -> tuple[int, int, int]:
        """The keys, in the order in which rows are locked."""
        return self.account, self.address, self.pair


def _network(address: str) -> str:
    """The network that counts as one address: a single IPv4 address, an IPv6 /64."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:  # a local socket
        return ""
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or (parsed if parsed.version == 4 else ipaddress.ip_network((parsed, 64), strict=False)))


def _buckets(secret: str, account: str, address: str) -> Buckets:
    def bucket(kind: int, *words: str) -> int:
        digest = hmac.new(b"netinv sign-in" + secret.encode(), repr((kind, *words)).encode("utf-8", "backslashreplace"), hashlib.sha256).digest()
        return kind * BUCKETS + int.from_bytes(digest[:8]) % BUCKETS

    return Buckets(bucket(ACCOUNT, account), bucket(ADDRESS, address), bucket(PAIR, account, address))


def _wait(settings: Mapping[str, Any], counters: Mapping[int, Any], buckets: Buckets) -> int:
    """The seconds until another attempt may be made; 0 for now."""
    at, window = now(), datetime.timedelta(seconds=settings["sign_in_window"])
    pair = counters.get(buckets.pair)
    limits = {buckets.pair: settings["sign_in_failures_pair"]}
    if pair is None or pair.known is None or pair.known <= at - REMEMBERED:
        limits |= {buckets.account: settings["sign_in_failures_account"], buckets.address: settings["sign_in_failures_address"]}
    over = [row for bucket, limit in limits.items() if limit and (row := counters.get(bucket)) is not None and row.failures >= limit]
    return max([0, *(math.ceil((row.since + window - at).total_seconds()) for row in over)])


def _attempt(settings: Mapping[str, Any], buckets: Buckets) -> dict[str, Any]:
    at = now()
    return {"begun": at - datetime.timedelta(seconds=settings["sign_in_window"]), "at": at, **dataclasses.asdict(buckets)}


@functools.cache
def _counting(dialect: str) -> Any:
    """INSERT of the three counters or, of those that are there, UPDATE; a counter whose window is over begins another one."""
    table, over = _counters, _counters.c.since <= sa.bindparam("begun")
    failures = sa.case((over, 1), else_=table.c.failures + 1)
    since = sa.case((over, sa.bindparam("at")), else_=table.c.since)
    values = [{"bucket": sa.bindparam(name), "failures": 1, "since": sa.bindparam("at")} for name in ("account", "address", "pair")]
    if dialect == "mysql":  # sets the columns one after another, each from those before it
        return mysql.insert(table).values(values).on_duplicate_key_update([("failures", failures), ("since", since)])
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table).values(values)
    return insert.on_conflict_do_update(index_elements=[table.c.bucket], set_={"failures": failures, "since": since})


@functools.cache
def _taking_back() -> Any:
    """UPDATE after a right password: nothing counts against the account and the pair any longer, one failure less against the address.

    The address keeps the others, so that nobody clears it with an account of their own.
    """
    table, pair = _counters, _counters.c.bucket == sa.bindparam("pair")
    fewer = sa.and_(table.c.bucket == sa.bindparam("address"), table.c.failures > 0)
    failures, known = sa.case((fewer, table.c.failures - 1), else_=0), sa.case((pair, sa.bindparam("now")), else_=table.c.known)
    return (
        sa.update(table)
        .where(table.c.bucket.in_([sa.bindparam("account"), sa.bindparam("address"), sa.bindparam("pair")]))
        .values(failures=failures, known=known)
    )
