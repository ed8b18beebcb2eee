"""Sign-in with user name and password, protected against guessing.

Every attempt is counted as a failure before the password is verified, and the count is taken back after a success, so
that concurrent attempts are counted too. An attempt has three counters: of the account, of the client's address, and of
the pair of both. One that an identity provider is asked about has three others, of its user of this name. One
that a provider cannot judge is not counted. A pair with a success in the last :data:`REMEMBERED` is limited by its
own counter alone: guesses from elsewhere cannot lock the user out.

The counters are rows of one table that all processes share. A keyed hash maps what is counted to one of
:data:`BUCKETS` rows of each kind. Unknown user names therefore cannot fill the table, and nobody can choose to share a
counter with somebody else.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import hmac
import math
import secrets
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import crypto
from netinv_core.auth.audit import audit
from netinv_core.auth.models import SignInCounter, User
from netinv_core.auth.providers import providers_of
from netinv_core.caches import lru_cache
from netinv_core.db.availability import is_busy
from netinv_core.driver import Driver
from netinv_core.errors import Denied, TooManyRequests, Unavailable
from netinv_core.models.base import now, table_of
from netinv_core.net import addresses
from netinv_signin import external_users, user_names

if TYPE_CHECKING:
    from netinv_core.auth.providers import ExternalUser, IdentityProvider
    from netinv_core.uow import UnitOfWork

MAX_TRANSACTION_ATTEMPTS = 8
MAX_RETRY_DELAY = 0.01  # seconds before the second attempt at most; doubled for each further one
BUCKETS = 2**16  # rows for each kind of counter
ACCOUNT, ADDRESS, PAIR = range(3)  # kinds of counters
REMEMBERED = datetime.timedelta(days=30)
WRONG = "Invalid username/password."
_users, _counters = table_of(User), table_of(SignInCounter)
_account_columns = (_users.c.id, _users.c.password, _users.c.is_active)
_select_account = sa.select(*_account_columns).where(_users.c.username == sa.bindparam("username"))
_select_counters = sa.select(_counters).where(_counters.c.bucket.in_(sa.bindparam("buckets", expanding=True)))


def sign_in(uow: UnitOfWork, username: str, password: str, address: str) -> uuid.UUID:
    """Returns the id of the account with this name and password; ``address`` is the client's IP address.

    Uses transactions of its own, before the unit of work has begun one: a failure is counted although the request is
    rejected.

    :raises Denied: for a wrong password, an unknown or an inactive account, with the same text and after the same time
    :raises Unavailable: when the password is not that of an account, and an identity provider cannot be asked
    :raises TooManyRequests: after too many failures, or while this process verifies too many passwords
    """
    settings = uow.registry.settings
    network = addresses.client_network(address)
    with _limit_concurrency(settings["password_checks"]):
        with _connection(uow, writing=False) as connection:
            account = _account(connection, username)
        name = str(account.id) if account else user_names.prepare(username)
        buckets = _buckets(settings["secret"], name, network)
        with _counting_failure(uow, buckets, account, network):
            user_id = _verify(uow, account, username, password, network)
        if user_id is None:
            audit("sign_in.failed", reason=_reason(account), account=account and account.id, network=network)
            raise Denied(WRONG)
        _write(uow, _count_success(), {"now": now(), **dataclasses.asdict(buckets)})
    audit("sign_in.succeeded", user=username)
    return user_id


@contextlib.contextmanager
def _counting_failure(uow: UnitOfWork, buckets: AttemptKeys, account: Any, network: str) -> Iterator[None]:
    """Counts a failure, then runs the block, which verifies a password; takes it back when a provider cannot tell.

    :raises TooManyRequests: after too many failures
    """
    settings = uow.registry.settings
    with _connection(uow, writing=False) as connection:
        rows = connection.execute(_select_counters, {"buckets": list(buckets.all)})
        counters = {row.bucket: row for row in rows}
    if (wait := _wait_seconds(settings, counters, buckets)) > 0:
        audit("sign_in.failed", reason="throttled", account=account and account.id, network=network, seconds=wait)
        raise TooManyRequests(wait)
    _write(uow, _count_failure(uow.registry.driver), _failure_parameters(settings, buckets))
    try:
        yield
    except Unavailable:
        _write(uow, _take_back(), dataclasses.asdict(buckets))
        raise


def _verify(uow: UnitOfWork, account: Any, username: str, password: str, network: str) -> uuid.UUID | None:
    """Returns the id of the account with this password: the stored one, or that of an identity provider.

    The stored one is verified even if it is not accepted, so that an answer takes as long for any name.

    :raises Unavailable: when a provider cannot tell
    """
    matches = crypto.verify_password(account.password if account else "", password)
    if matches and account.is_active and uow.registry.settings["password_sign_in"]:
        user_id: uuid.UUID = account.id
        return user_id
    if not (username and password):
        return None
    for provider in providers_of(uow.registry).values():
        user = _external_user(uow, provider, account, username, password, network)
        if user is not None:
            with contextlib.suppress(Denied):
                engine: Any = uow.session.get_bind()
                return external_users.user_id_of(engine, uow.registry, user)
    return None


def _external_user(
    uow: UnitOfWork, provider: IdentityProvider, account: Any, username: str, password: str, network: str
) -> ExternalUser | None:
    """Asks a provider, for which attempts have counters of their own: of the user whom it knows by this name, however
    the name is spelled.

    :raises Unavailable: when it cannot tell
    :raises TooManyRequests: after too many failures
    """
    if provider.check_password is None:
        return None
    subject = provider.resolve(uow.registry, username) if provider.resolve is not None else None
    name = subject or user_names.prepare(username)
    buckets = _buckets(uow.registry.settings["secret"], f"{provider.name} {name}", f"{provider.name} {network}")
    with _counting_failure(uow, buckets, account, network):
        user = provider.check_password(uow.registry, username, password)
    if user is not None:
        _write(uow, _count_success(), {"now": now(), **dataclasses.asdict(buckets)})
    return user


def _reason(account: Any) -> str:
    """Returns the reason of a failure for the audit log; the client is not told."""
    if account is None:
        return "unknown_account"
    return "wrong_password" if account.is_active else "inactive_account"


@contextlib.contextmanager
def _limit_concurrency(limit: int) -> Iterator[None]:
    """Runs the block when fewer than ``limit`` others run; as many may wait, so that the server keeps free threads.

    :raises TooManyRequests: when as many are waiting already
    """
    admitted, working = _semaphores(limit)
    if not admitted.acquire(blocking=False):
        raise TooManyRequests(1)
    try:
        with working:
            yield
    finally:
        admitted.release()


@lru_cache("connections", 16)
def _semaphores(limit: int) -> tuple[threading.Semaphore, threading.Semaphore]:
    """Returns the process's semaphores of admitted and of running password checks."""
    return threading.Semaphore(2 * limit), threading.Semaphore(limit)


@contextlib.contextmanager
def _connection(uow: UnitOfWork, *, writing: bool) -> Iterator[sa.Connection]:
    """Context manager of a separate connection, committed at the end."""
    engine: Any = uow.session.get_bind()
    with engine.connect().execution_options(**uow.registry.driver.connection_options(writing=writing)) as connection:
        yield connection
        connection.commit()


def _write(uow: UnitOfWork, statement: Any, parameters: Mapping[str, Any]) -> None:
    """Runs a statement in a transaction of its own; repeats it after a deadlock or lock timeout.

    The random delay keeps simultaneous sign-ins of one address from meeting in the next deadlock: a success that is not
    written would leave its attempt counted as a failure.
    """
    for attempt in range(MAX_TRANSACTION_ATTEMPTS):
        try:
            with _connection(uow, writing=True) as connection:
                connection.execute(statement, parameters)
            return
        except sa.exc.DBAPIError as error:
            if attempt == MAX_TRANSACTION_ATTEMPTS - 1 or not is_busy(error):
                raise
            time.sleep(secrets.SystemRandom().uniform(0, MAX_RETRY_DELAY * 2**attempt))


def _account(connection: sa.Connection, username: str) -> Any:
    """Returns the row of a user; ``None`` also for a name that no user can have."""
    if "\x00" in username or len(username) > 150:
        return None
    return connection.execute(_select_account, {"username": username}).first()


# -- counters


@dataclasses.dataclass(frozen=True)
class AttemptKeys:
    """Keys of the three counters of an attempt."""

    account: int
    address: int
    pair: int

    @property
    def all(self) -> tuple[int, int, int]:
        """The keys, in the order in which their rows are locked."""
        return self.account, self.address, self.pair


def _buckets(secret: str, account: str, address: str) -> AttemptKeys:
    def bucket(kind: int, *words: str) -> int:
        text = repr((kind, *words)).encode("utf-8", "backslashreplace")
        digest = hmac.new(b"netinv sign-in" + secret.encode(), text, hashlib.sha256).digest()
        return kind * BUCKETS + int.from_bytes(digest[:8]) % BUCKETS

    return AttemptKeys(bucket(ACCOUNT, account), bucket(ADDRESS, address), bucket(PAIR, account, address))


def _wait_seconds(settings: Mapping[str, Any], counters: Mapping[int, Any], buckets: AttemptKeys) -> int:
    """Returns the seconds until the next attempt is allowed; 0 when it is allowed now."""
    at, window = now(), datetime.timedelta(seconds=settings["sign_in_window"])
    pair = counters.get(buckets.pair)
    limits = {buckets.pair: settings["sign_in_failures_pair"]}
    if pair is None or pair.known is None or pair.known <= at - REMEMBERED:
        limits[buckets.account] = settings["sign_in_failures_account"]
        limits[buckets.address] = settings["sign_in_failures_address"]
    waits = [0]
    for bucket, limit in limits.items():
        row = counters.get(bucket)
        if limit and row is not None and row.failures >= limit:
            waits.append(math.ceil((row.since + window - at).total_seconds()))
    return max(waits)


def _failure_parameters(settings: Mapping[str, Any], buckets: AttemptKeys) -> dict[str, Any]:
    """Returns the parameters of :func:`_count_failure`."""
    at = now()
    begun = at - datetime.timedelta(seconds=settings["sign_in_window"])
    return {"begun": begun, "at": at, **dataclasses.asdict(buckets)}


@lru_cache("SQL statements", 8)
def _count_failure(driver: Driver) -> Any:
    """Upsert of the three counters; a counter whose window is over starts another one."""
    table, over = _counters, _counters.c.since <= sa.bindparam("begun")
    failures = sa.case((over, 1), else_=table.c.failures + 1)
    since = sa.case((over, sa.bindparam("at")), else_=table.c.since)
    values = [
        {"bucket": sa.bindparam(name), "failures": 1, "since": sa.bindparam("at")}
        for name in ("account", "address", "pair")
    ]
    return driver.upsert(table, values, table.c.bucket, {"failures": failures, "since": since})


@lru_cache("SQL statements", 1)
def _take_back() -> Any:
    """UPDATE that takes one failure off each counter of an attempt that was none."""
    buckets: list[Any] = [sa.bindparam(name) for name in ("account", "address", "pair")]
    return (
        sa.update(_counters)
        .where(_counters.c.bucket.in_(buckets), _counters.c.failures > 0)
        .values(failures=_counters.c.failures - 1)
    )


@lru_cache("SQL statements", 1)
def _count_success() -> Any:
    """UPDATE after a successful sign-in: resets the counters of account and pair, takes one failure off the address.

    The address keeps its other failures: otherwise an account of one's own would reset them.
    """
    table = _counters
    is_pair = table.c.bucket == sa.bindparam("pair")
    is_address = sa.and_(table.c.bucket == sa.bindparam("address"), table.c.failures > 0)
    return (
        sa.update(table)
        .where(table.c.bucket.in_([sa.bindparam("account"), sa.bindparam("address"), sa.bindparam("pair")]))
        .values(
            failures=sa.case((is_address, table.c.failures - 1), else_=0),
            known=sa.case((is_pair, sa.bindparam("now")), else_=table.c.known),
        )
    )
