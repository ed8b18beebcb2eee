"""The audit log: events about accounts, credentials and access, by the logger ``netinv.audit``.

Each line has the name of an event and its fields, besides those of the request. Lines about what a transaction writes
are logged after its commit. Nothing is read from the database for them.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.caches import BoundedCache
from netinv_core.telemetry import log_context
from netinv_core.telemetry.formatters import FIELDS

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.uow import UnitOfWork

log = logging.getLogger("netinv.audit")
KINDS = {"users.token": "token", "users.user": "user", "auth.group": "group", "users.objectpermission": "permission"}
_WORDS = {"create": "created", "update": "changed", "delete": "deleted"}
# Events with their fields; those of failures are warnings.
EVENTS = {
    "sign_in.succeeded": "a password was accepted: `user`",
    "user.linked": "a user of an identity provider got an account: `provider`, `user`, `id`, `created`",
    "user.groups_changed": "a sign-in changed the groups of an account: `provider`, `user`, `groups`",
    "session.started": "a browser was signed in, with a password or by a provider: `user`",
    "session.ended": "a user signed out",
    "token.used": "an address used a token for the first time since this process started: `user`, `token`",
    "user.password_changed": "an account got another password: `id`",
    "export.sent": "a list was sent as a file: `type`, `format`",
    "backup.created": "a backup was written: `file`",
    "backup.restored": "a backup was restored: `file`",
    **{
        f"{kind}.{word}": f"a {kind} was {word}: `id`, `name`" + (", `changed` (names of fields)" * (word == "changed"))
        for kind in KINDS.values()
        for word in _WORDS.values()
    },
}
FAILURES = {
    "sign_in.failed": "a password was not accepted: `reason` (`throttled`, `unknown_account`, `inactive_account`, "
    "`wrong_password`), `account` (its id)",
    "sign_in.refused": "a user of an identity provider may have no account: `provider`, `user`, `reason`",
    "credentials.refused": "a token was not accepted: `reason` (`malformed`, `unknown_token`, `expired_token`, "
    "`inactive_account`, `address`)",
    "access.denied": "an account lacks a permission, or its token may not write (403): `method`, `path`, `reason`",
}
MAX_USES = 10_000  # pairs of a token and an address that a process remembers
_uses: BoundedCache[bool] = BoundedCache("token uses", MAX_USES)


def audit(event: str, **fields: Any) -> None:
    """Logs an event of :data:`EVENTS` or :data:`FAILURES` at once."""
    log.log(
        logging.WARNING if event in FAILURES else logging.INFO, "%s", event, extra={FIELDS: {"event": event, **fields}}
    )


def audit_after_commit(uow: UnitOfWork, event: str, **fields: Any) -> None:
    """Logs an event when the transaction of a unit of work is committed."""
    uow.after_commit(lambda: audit(event, **fields))


def audit_changes(uow: UnitOfWork, changes: Iterable[Change]) -> None:
    """Logs changes of accounts, groups, permissions and tokens after the commit, without their values."""
    for change in changes:
        kind = KINDS.get(change.endpoint.label)
        if kind is not None:
            before, after = change.before or {}, change.after or {}
            names = [name for name in after if name != "last_updated" and before.get(name) != after[name]]
            fields = {"changed": ",".join(names)} if change.action == "update" else {}
            event = f"{kind}.{_WORDS[change.action]}"
            audit_after_commit(uow, event, id=str(change.key), name=change.name, **fields)


def audit_token_use(token_id: uuid.UUID, username: str) -> None:
    """Logs the first use of a token by an address in this process. Call it where the log has its level."""
    context = log_context.current()
    if context is not None:
        _uses.get_or_make((token_id, context.client), lambda: _first_use(token_id, username))


def _first_use(token_id: uuid.UUID, username: str) -> bool:
    audit("token.used", user=username, token=str(token_id)[:8])
    return True
