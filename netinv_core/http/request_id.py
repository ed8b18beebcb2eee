"""The id of a request: that of the header ``X-Request-ID``, or a new one. The answer, the log and the change log have
it.
"""

from __future__ import annotations

import uuid
from typing import Any

HEADER = "X-Request-ID"
_SENT, _KEPT = "HTTP_X_REQUEST_ID", "netinv.request_id"


def id_of(environ: dict[str, Any]) -> uuid.UUID:
    """The id of the request of a WSGI environment, the same for each attempt at it.

    A header that is no UUID (RFC 9562; 32 hexadecimal digits, hyphens or not) is ignored.
    """
    request_id: uuid.UUID | None = environ.get(_KEPT)
    if request_id is None:
        request_id = environ[_KEPT] = _parsed(environ.get(_SENT, "")) or uuid.uuid4()
    return request_id


def _parsed(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if len(text) <= 36 else None
    except ValueError:
        return None
