"""Sessions of signed-in browsers: rows in the database, each found by a random key in a cookie.

Only the SHA-256 digest of the key is stored. A session ends after ``netinv.session_idle_timeout`` without a request,
``netinv.session_lifetime`` after the sign-in, when its row is deleted, and when its account is deactivated.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import secrets
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from pyramid.request import Request
from sqlalchemy.orm import Mapped, mapped_column
from webob.cookies import JSONSerializer, SignedCookieProfile

from netinv_core import crypto
from netinv_core.auth.account import Identity
from netinv_core.auth.identity import IDENTITY_COLUMNS, account_row, identity_of
from netinv_core.auth.models import User
from netinv_core.auth.providers import providers_of
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.mount import HOST_COOKIE, mount_of
from netinv_core.models.base import Model, now, table_of
from netinv_core.models.columns import Ref, column
from netinv_core.models.types import LongText
from netinv_core.tasks.retention import Retention

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

USE_INTERVAL = datetime.timedelta(minutes=5)  # the time of the last request is stored at most this often
CROSS_SITE = "This request was sent by another site. Open netinv itself, and repeat what you did there."
MAX_USER_AGENT = 255  # characters
KEY_SIZE = 32  # bytes


class CrossSiteRequest(Denied):
    """403 for an unsafe request with the cookie of a session that no page of this service sent."""

    def __init__(self) -> None:
        super().__init__(CROSS_SITE)


class WebSession(Model):
    """A signed-in browser. ``key_hash`` is the SHA-256 digest of the key in its cookie; ``provider_data`` holds what
    an identity provider needs later, encrypted.
    """

    __tablename__ = "web_session"

    user_id: Mapped[Ref] = mapped_column(sa.ForeignKey("core_user.id", ondelete="CASCADE"), index=True)
    key_hash: Mapped[str] = column(length=64, unique=True, hidden=True, confidential=True)
    created: Mapped[datetime.datetime] = column(default=now, read_only=True)
    last_used: Mapped[datetime.datetime] = mapped_column(index=True, default=now)
    address: Mapped[str] = column(length=64)
    user_agent: Mapped[str] = column(length=MAX_USER_AGENT)
    provider: Mapped[str] = column(length=50, default="", hidden=True)
    provider_data: Mapped[str] = column(LongText(), default="", hidden=True, confidential=True, encrypted=True)


@dataclasses.dataclass(frozen=True)
class CurrentSession:
    """The session of a request, and the preferences of its user (:mod:`netinv_web.preferences`)."""

    id: uuid.UUID
    last_used: datetime.datetime
    preferences: Mapping[str, Any]
    provider: str = ""
    sealed_data: str = ""

    def data(self, registry: Registry) -> Mapping[str, Any]:
        """Data that the identity provider stored; empty if it cannot be decrypted any more."""
        try:
            data: dict[str, Any] = json.loads(crypto.decrypt(registry.settings["secret"], self.sealed_data) or "{}")
        except ValueError:
            return {}
        return data


_sessions, _users = table_of(WebSession), table_of(User)
_by_key = (
    sa.select(
        *IDENTITY_COLUMNS,
        _users.c.config_data,
        _sessions.c.id.label("session_id"),
        _sessions.c.created.label("begun"),
        _sessions.c.last_used,
        _sessions.c.provider,
        _sessions.c.provider_data,
    )
    .join_from(_sessions, _users)
    .where(_sessions.c.key_hash == sa.bindparam("digest"))
)


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def cookie_name(request: Request) -> str:
    """The name of the cookie. Browsers accept both prefixes from HTTPS alone, ``__Host-`` without a domain and for the
    whole host: not for a service that is mounted below a path.
    """
    prefix = "__Secure-" if mount_of(request.environ) else HOST_COOKIE
    return f"{prefix}netinv_session" if is_secure(request) else "netinv_session"


def is_secure(request: Request) -> bool:
    """True when cookies are sent over HTTPS only: for a request by HTTPS, or by the setting."""
    return request.scheme == "https" or bool(request.registry.netinv.settings["session_cookie_secure"])


def signed_cookie(request: Request, name: str, salt: str, lifetime: int) -> Any:
    """The profile of a signed cookie with JSON, for ``lifetime`` seconds, that scripts cannot read."""
    profile = SignedCookieProfile(
        request.registry.netinv.settings["secret"],
        salt,
        name,
        secure=is_secure(request),
        max_age=lifetime,
        httponly=True,
        samesite="Lax",
        serializer=JSONSerializer(),
    )
    return profile.bind(request)


def forget_cookie(request: Request, response: Any, name: str) -> None:
    """Removes a cookie from the browser."""
    response.set_cookie(name, "", max_age=0, httponly=True, secure=is_secure(request), samesite="Lax")


def from_cookie(request: Request) -> Identity | None:
    """Identity source of the session cookie; ``None`` without a session that is still valid.

    An unsafe method needs proof that a page of this service sent the request (:func:`is_same_origin`).

    :raises CrossSiteRequest: for an unsafe request from another site
    """
    key = request.cookies.get(cookie_name(request), "")
    if not key:
        return None
    row = account_row(request.uow, _by_key, {"digest": _digest(key)})
    if row is None or _is_over(row, request.registry.netinv.settings) or not row.is_active:
        return None
    if request.method in UNSAFE_METHODS and not is_same_origin(request):
        raise CrossSiteRequest()
    preferences = (row.config_data or {}).get("web") or {}
    session = CurrentSession(row.session_id, row.last_used, preferences, row.provider, row.provider_data)
    if session.provider and not _is_proven(request, session):
        return None
    request.netinv_session = session
    if now() - row.last_used > USE_INTERVAL:
        request.add_finished_callback(_store_use)
    return identity_of(request.uow, row, writes=True)


def _is_over(row: Any, settings: Mapping[str, Any]) -> bool:
    at = now()
    idle = at - row.last_used > datetime.timedelta(seconds=settings["session_idle_timeout"])
    return idle or at - row.begun > datetime.timedelta(seconds=settings["session_lifetime"])


def _is_proven(request: Request, session: CurrentSession) -> bool:
    """True if the identity provider of a session is there, and the request still proves its user where requests do."""
    registry: Registry = request.registry.netinv
    provider = providers_of(registry).get(session.provider)
    if provider is None or provider.from_request is None:
        return provider is not None
    user = provider.from_request(request)
    return user is not None and user.subject == session.data(registry).get("subject")


def is_same_origin(request: Request) -> bool:
    """True for a request that a page of this service sent.

    Browsers say so with ``Sec-Fetch-Site: same-origin`` (W3C Fetch Metadata). They leave that out over plain HTTP; then
    ``Origin`` (RFC 6454) must be this service's.
    """
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return bool(site == "same-origin")
    origin = request.headers.get("Origin", "")
    own = urlsplit(request.registry.netinv.settings["base_url"] or request.host_url)
    return origin.rstrip("/").lower() in (f"{own.scheme}://{own.netloc}".lower(), request.host_url.lower())


def _store_use(request: Request) -> None:
    """Stores the time of the last request in a transaction of its own, after the answer is made."""
    session = current(request)
    assert session is not None
    with request.registry.netinv_engine.begin() as connection:
        is_session = _sessions.c.id == session.id
        connection.execute(sa.update(_sessions).where(is_session).values(last_used=now()))


def current(request: Request) -> CurrentSession | None:
    """The session of a request; ``None`` where it was authenticated otherwise, or not at all."""
    return getattr(request, "netinv_session", None)


def begin(
    request: Request,
    user_id: uuid.UUID,
    uow: UnitOfWork | None = None,
    *,
    provider: str = "",
    data: Mapping[str, Any] | None = None,
) -> str:
    """Creates a session of a user; returns the key for its cookie.

    :param uow: another unit of work than that of the request
    :param provider: the identity provider of the user, and its ``data``
    """
    uow, secret = uow or request.uow, request.registry.netinv.settings["secret"]
    key = secrets.token_urlsafe(KEY_SIZE)
    row = {
        "id": uuid.uuid4(),
        "user_id": user_id,
        "key_hash": _digest(key),
        "created": now(),
        "last_used": now(),
        "address": request.remote_addr or "",
        "user_agent": (request.user_agent or "")[:MAX_USER_AGENT],
        "provider": provider,
        "provider_data": crypto.encrypt(secret, json.dumps(data) if data else ""),
    }
    uow.execute(sa.insert(_sessions), [row])
    uow.note_write_of(user_id)
    return key


def _over(settings: Mapping[str, Any], at: datetime.datetime) -> Any:
    """The condition of sessions that are over at a time."""
    return sa.or_(
        _sessions.c.last_used < at - datetime.timedelta(seconds=settings["session_idle_timeout"]),
        _sessions.c.created < at - datetime.timedelta(seconds=settings["session_lifetime"]),
    )


retention = Retention(_sessions, _over)


def end(
    uow: UnitOfWork, user_id: uuid.UUID, session_id: uuid.UUID | None = None, *, keep: uuid.UUID | None = None
) -> None:
    """Ends one session of a user, or all of them except the one to ``keep``."""
    condition = _sessions.c.user_id == user_id
    if session_id is not None:
        condition = sa.and_(condition, _sessions.c.id == session_id)
    if keep is not None:
        condition = sa.and_(condition, _sessions.c.id != keep)
    uow.execute(sa.delete(_sessions).where(condition))


def end_with_credentials(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rule of accounts: a new password, and deactivation, end all sessions of the account."""
    concerned = [
        draft
        for draft in drafts
        if not draft.new and (draft.changed("password") or (draft.changed("is_active") and not draft["is_active"]))
    ]
    if concerned:
        clause = in_parameter(_sessions.c.user_id)
        uow.execute(sa.delete(_sessions).where(clause), {"keys": [draft.id for draft in concerned]})


def sessions_of(uow: UnitOfWork, user_id: uuid.UUID) -> list[Any]:
    """The rows of a user's sessions that are not over, the one used last first."""
    columns = [_sessions.c[name] for name in ("id", "created", "last_used", "address", "user_agent")]
    statement = sa.select(*columns).where(_sessions.c.user_id == user_id, ~_over(uow.registry.settings, now()))
    return list(uow.execute(statement.order_by(_sessions.c.last_used.desc())))


def set_cookie(request: Request, response: Any, key: str) -> None:
    """Adds the cookie of a session to a response: not readable by scripts, not sent by other sites."""
    lifetime = int(request.registry.netinv.settings["session_lifetime"])
    secure = is_secure(request)
    response.set_cookie(cookie_name(request), key, max_age=lifetime, httponly=True, secure=secure, samesite="Lax")


def delete_cookie(request: Request, response: Any) -> None:
    """Removes the cookie."""
    forget_cookie(request, response, cookie_name(request))  # secure: browsers ignore the prefix __Host- otherwise
