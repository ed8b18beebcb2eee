"""Stored answers of requests with an ``Idempotency-Key``, for clients that send a request again.

An answer is a row of the transaction of its request: what was committed has one, what was rolled back has none. It is
looked up by the statement that reads the account (:func:`netinv_core.auth.identity.account_row`), and inserted at the
end of the request. Two requests with one key meet at the unique constraint: the later one is rolled back.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import re
import uuid
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects import mysql
from sqlalchemy.orm import Mapped, mapped_column

from netinv_core import crypto
from netinv_core.models.base import Model, now, table_of
from netinv_core.models.columns import column
from netinv_core.tasks.retention import Retention, older_than

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

_CONTENT_TYPE = sa.LargeBinary().with_variant(mysql.MEDIUMBLOB(), "mysql", "mariadb")  # a BLOB of MySQL has 64 KiB
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class StoredAnswer(Model):
    """The answer to a request of a user. ``request_digest`` tells whether another request has the same key; ``content``
    is encrypted, as answers may show secrets; null for an answer that was too large.
    """

    __tablename__ = "core_stored_answer"
    __table_args__ = (sa.UniqueConstraint("user_id", "key_digest"),)

    user_id: Mapped[uuid.UUID]
    key_digest: Mapped[str] = column(length=64)
    request_digest: Mapped[str] = column(length=64)
    created: Mapped[datetime.datetime] = mapped_column(index=True, default=now)
    content: Mapped[bytes | None] = column(_CONTENT_TYPE, default=None, hidden=True, encrypted=True)


_table = table_of(StoredAnswer)
COLUMNS = (_table.c.request_digest, _table.c.content)


@dataclasses.dataclass(frozen=True)
class KeptAnswer:
    """Status, headers and body of an answer."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


@dataclasses.dataclass
class KeyedRequest:
    """The key of a request, as a digest, and the row of its stored answer once it is ``looked_up``."""

    key_digest: str
    looked_up: bool = False
    row: Any = None

    def take_row(self, row: Any) -> None:
        """Takes the row with :data:`COLUMNS` that was looked up; nulls for none."""
        self.looked_up, self.row = True, row if row is not None and row.request_digest is not None else None


def digest_of_key(text: str) -> str | None:
    """The digest of the value of the header; ``None`` for one that is not 1 to 255 visible ASCII characters."""
    return hashlib.sha256(text.encode()).hexdigest() if _KEY.fullmatch(text) else None


def is_stored_for(user_id: Any) -> Any:
    """The condition of the row of a user and the parameter ``key_digest``, for a join."""
    return sa.and_(_table.c.user_id == user_id, _table.c.key_digest == sa.bindparam("key_digest"))


def look_up(uow: UnitOfWork, keyed: KeyedRequest) -> None:
    """Looks up the row of a key; one statement."""
    statement = sa.select(*COLUMNS).where(is_stored_for(sa.bindparam("user_id", type_=_table.c.user_id.type)))
    values = {"user_id": uow.identity.user_id, "key_digest": keyed.key_digest}
    keyed.take_row(uow.execute(statement, values).first())


def store(uow: UnitOfWork, keyed: KeyedRequest, request_digest: str, answer: KeptAnswer) -> None:
    """Inserts the answer; one statement. Waits for a concurrent request with the same key.

    :raises sqlalchemy.exc.IntegrityError: when that one was committed
    """
    values = {"user_id": uow.identity.user_id, "key_digest": keyed.key_digest, "request_digest": request_digest}
    content = _seal(uow.registry, answer)
    uow.execute(sa.insert(_table).values(id=uuid.uuid4(), created=now(), content=content, **values))


def _seal(registry: Registry, answer: KeptAnswer) -> bytes | None:
    """The compressed and encrypted answer; ``None`` for one larger than ``netinv.max_stored_answer_size``."""
    most = min(registry.settings["max_stored_answer_size"], registry.driver.most_bytes)
    head = orjson.dumps([answer.status, answer.headers])
    content = zlib.compress(head + b"\n" + answer.body, 1)
    return crypto.encrypt_bytes(registry.settings["secret"], content) if len(content) <= most else None


def read(secret: str, content: bytes | None) -> KeptAnswer | None:
    """The answer of a row; ``None`` if it was not kept, or encrypted with another ``netinv.secret``."""
    try:
        text = None if content is None else zlib.decompress(crypto.decrypt_bytes(secret, content))
    except ValueError:
        return None
    if text is None:
        return None
    head, _, body = text.partition(b"\n")
    status, headers = orjson.loads(head)
    return KeptAnswer(status, [(name, value) for name, value in headers], body)


retention = Retention(_table, older_than("idempotency_retention", _table.c.created, unit="hours"))
