"""A service to test: the whole WSGI application on a database of its own, an administrator, and ways to look inside."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import functools
import itertools
import json
import secrets
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, ClassVar
from urllib.parse import urlencode

import orjson
import sqlalchemy as sa
import webtest
from sqlalchemy import event
from sqlalchemy.engine import Engine

from netinv_core import crypto
from netinv_core.auth.account import Identity
from netinv_core.auth.models import Token, User
from netinv_core.auth.token_use import TokenUse
from netinv_core.driver.sessions import commit
from netinv_core.http.actions import actions_of
from netinv_core.http.versions import NEWEST
from netinv_core.main import make_app, read_settings
from netinv_core.uow import UnitOfWork
from netinv_testing.documented import Documented
from netinv_testing.population import Population

PASSWORD = "correct horse"  # noqa: S105 - the administrator of a test
SECRET = "for tests only, of 32 characters"  # noqa: S105
NOTHING: Any = object()
SAME: Any = object()
EXPECTED = {"GET": 200, "HEAD": 200, "OPTIONS": 200, "POST": 201, "PUT": 200, "PATCH": 200, "DELETE": 204}
Query = Mapping[str, Any] | Sequence[tuple[str, Any]]
Permission = tuple[Any, ...]


class Unique:
    """Numbers and words that nothing else in the database has; ``unique()`` gives a word fit for names and slugs."""

    _prefixes: ClassVar[set[str]] = set()

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._prefix = self._new_prefix()

    @classmethod
    def _new_prefix(cls) -> str:
        """A random prefix that no other object of the process has: hundreds of services share one database."""
        while (prefix := f"t{secrets.token_hex(2)}") in cls._prefixes:
            pass
        cls._prefixes.add(prefix)
        return prefix

    def __call__(self) -> str:
        return f"{self._prefix}x{self.number():05d}"

    def ipv6(self) -> str:
        """The first three groups of an IPv6 network of length 48 that nothing else has, in 2001:db8::/32 and what
        follows it.
        """
        number = self.number()
        return f"2001:{0xDB8 + number // 65536:x}:{number % 65536:x}"

    def number(self) -> int:
        """The next number."""
        return next(self._numbers)


class Api:
    """A client: its verbs give parsed JSON and insist on the status they expect.

    ``status`` is one status, several, or ``None`` for any below 500; ``token`` and ``version`` stand for the client's
    own. Every answer has to be as the OpenAPI document describes it. Cookies are not kept.
    """

    def __init__(
        self, app: Any, token: str | None, version: str | None = NEWEST, documented: Documented | None = None
    ) -> None:
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        self._app = webtest.TestApp(app, lint=False, cookiejar=no_cookies)
        self._documented = documented
        self.token = token
        self.version = version

    def send(
        self,
        method: str,
        path: str,
        body: Any = NOTHING,
        *,
        query: Query = (),
        status: int | Sequence[int] | None = None,
        token: Any = SAME,
        version: Any = SAME,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The response; ``body`` is sent as it is when it is bytes, else as JSON."""
        token, version = self.token if token is SAME else token, self.version if version is SAME else version
        sent = {"Authorization": f"Token {token}"} if token else {}
        if version:
            sent["Accept"] = f"application/json; version={version}"
        if body is not NOTHING:
            sent["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        url = f"{path}{'&' if '?' in path else '?'}{urlencode(query, doseq=True)}" if query else path
        response = self._app.request(
            url,
            method=method,
            body=b"" if body is NOTHING else body,
            headers={**sent, **(headers or {})},
            expect_errors=True,
        )
        expected = range(500) if status is None else (status,) if isinstance(status, int) else status
        answer = f"{response.status} {response.body[:600].decode(errors='replace')}"
        description = f"{method} {url} {b'' if body is NOTHING else body[:300]!r} → {answer}"
        assert response.status_int in expected, description
        if self._documented is not None:
            self._documented.check(method, url, response)
        return response

    def _json(self, method: str, path: str, body: Any = NOTHING, *, status: Any = SAME, **options: Any) -> Any:
        response = self.send(method, path, body, status=EXPECTED[method] if status is SAME else status, **options)
        return orjson.loads(response.body) if response.body and response.content_type == "application/json" else None

    def get(self, path: str, query: Query = (), **options: Any) -> Any:
        """GET."""
        return self._json("GET", path, query=query, **options)

    def post(self, path: str, body: Any = NOTHING, **options: Any) -> Any:
        """POST."""
        return self._json("POST", path, body, **options)

    def put(self, path: str, body: Any = NOTHING, **options: Any) -> Any:
        """PUT."""
        return self._json("PUT", path, body, **options)

    def patch(self, path: str, body: Any = NOTHING, **options: Any) -> Any:
        """PATCH."""
        return self._json("PATCH", path, body, **options)

    def delete(self, path: str, body: Any = NOTHING, **options: Any) -> Any:
        """DELETE."""
        return self._json("DELETE", path, body, **options)

    def options(self, path: str, **options: Any) -> Any:
        """OPTIONS."""
        return self._json("OPTIONS", path, **options)


@dataclasses.dataclass(frozen=True)
class Account:
    """A user made for a test, with a token and a client that uses it."""

    id: str
    username: str
    password: str
    token: str
    api: Api


class Statements(list[str]):
    """The SQL statements of a block, beginnings, ends and settings of transactions left out."""


_TRANSACTION = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA", "SET LOCAL")


class Service:
    """The service on a migrated, seeded database; ``api`` is an administrator's client, ``anonymous`` has no
    credentials.

    ``examples`` holds values for samples that depend on the database, such as ids of its objects, by label and field.
    They take precedence over :attr:`Resource.example <netinv_core.resource.Resource>`. ``statuses`` holds the statuses
    of all samples (:class:`netinv_testing.Samples`).
    """

    def __init__(self, engine: Engine, settings: Mapping[str, str] | None = None) -> None:
        self.engine = engine
        self.settings, packages = read_settings(
            {"netinv.secret": SECRET, "netinv.sign_in_failures_address": "0", **(settings or {})}
        )
        self.app = make_app(engine, self.settings, packages=packages)
        self.registry = self.app.registry.netinv
        self.documented = Documented(self.registry, actions_of(self.app.registry))
        self.unique = Unique()
        self.examples: dict[str, dict[str, Any]] = {}
        self.population = Population(self)
        self.statuses: dict[tuple[str, str, bool], dict[str, Any]] = {}
        self.admin = self.user(superuser=True, password=PASSWORD)
        self.api = self.admin.api
        self.anonymous = Api(self.app, None, documented=self.documented)

    @contextlib.contextmanager
    def unit_of_work(self) -> Iterator[UnitOfWork]:
        """A unit of work beside the API, committed at its end."""
        with self.app.registry.netinv_sessions() as session:
            yield UnitOfWork(self.registry, session, Identity(superuser=True), writing=True)
            commit(session)

    def rows(self, statement: Any) -> list[Any]:
        """The rows of a SELECT."""
        with self.unit_of_work() as uow:
            return list(uow.execute(statement).all())

    def row_counts(self) -> dict[str, int]:
        """The number of rows of every table, by name."""
        with self.engine.connect() as connection:
            return dict(connection.exec_driver_sql(self._row_counts_statement).tuples().all())

    @functools.cached_property
    def _row_counts_statement(self) -> str:
        """SELECT of the number of rows of every table, as text: compiling it takes 20 ms, running it 0.3 ms
        (SQLite).
        """
        names = sa.inspect(self.engine).get_table_names()
        counts = (sa.select(sa.literal(name), sa.func.count()).select_from(sa.table(name)) for name in names)
        return str(sa.union_all(*counts).compile(self.engine, compile_kwargs={"literal_binds": True}))

    def user(
        self,
        *permissions: Permission,
        superuser: bool = False,
        active: bool = True,
        write_enabled: bool = True,
        expires: datetime.datetime | None = None,
        password: str = "",
        groups: Sequence[int] = (),
    ) -> Account:
        """A new account; each permission is ``(actions, label or labels[, constraints])``, actions as words."""
        key, name, user_id = crypto.new_key(), self.unique(), uuid.uuid4()
        user = {"id": user_id, "username": name, "password": crypto.hash_password(password) if password else "!"}
        users: Any = User.__table__
        tokens: Any = Token.__table__
        with self.unit_of_work() as uow:
            uow.execute(sa.insert(users).values(**user, is_superuser=superuser, is_active=active))
            uow.execute(
                sa.insert(tokens).values(
                    key_hash=crypto.digest(key), user_id=user_id, write_enabled=write_enabled, expires=expires
                )
            )
        if groups:
            self.api.patch(f"/api/users/users/{user_id}/", {"groups": list(groups)})
        for actions, labels, *constraints in permissions:
            self.permit(actions, labels, *constraints, users=[str(user_id)])
        return Account(str(user_id), name, password, key, Api(self.app, key, documented=self.documented))

    def permit(self, actions: str, labels: str | Sequence[str], constraints: Any = None, **holders: Any) -> Any:
        """A new permission for ``users=[ids]`` or ``groups=[ids]``."""
        types = [labels] if isinstance(labels, str) else list(labels)
        permission = {
            "name": self.unique(),
            "object_types": types,
            "actions": actions.split(),
            "constraints": constraints,
        }
        return self.api.post("/api/users/permissions/", {**permission, **holders})

    @contextlib.contextmanager
    def statements(self) -> Iterator[Statements]:
        """Collects the SQL statements of the block, without those that record uses of tokens beside it."""
        statements = Statements()

        def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            beside = threading.current_thread().name == TokenUse.thread_name
            if not (beside or statement.lstrip().upper().startswith(_TRANSACTION)):
                statements.append(statement)

        event.listen(self.engine, "before_cursor_execute", note)
        try:
            yield statements
        finally:
            event.remove(self.engine, "before_cursor_execute", note)

    @contextlib.contextmanager
    def configured(self, **settings: Any) -> Iterator[None]:
        """Other settings for the block."""
        before = dict(self.registry.settings)
        self.registry.settings.update(settings)
        try:
            yield
        finally:
            self.registry.settings.clear()
            self.registry.settings.update(before)
