"""Identity: the account that sends a request, and what it may do."""

from __future__ import annotations

import dataclasses
import datetime
import uuid
from collections.abc import Mapping
from typing import Any

NOT_GIVEN = "Authentication credentials were not provided."
Permissions = Mapping[tuple[str, str], list[Any]]


@dataclasses.dataclass(frozen=True)
class TokenReference:
    """The id of a token, and the stored time of its last use."""

    id: uuid.UUID
    last_used: datetime.datetime | None


@dataclasses.dataclass(frozen=True)
class Identity:
    """An authenticated account, or nobody. ``permissions`` maps (label, action) to constraints, any of which must
    hold. ``token`` is that of the request, if there is one; ``limited`` is true if it may do less than its user,
    ``limited_to_types`` if its object types are among the limits.
    """

    user_id: uuid.UUID | None = None
    username: str = ""
    superuser: bool = False
    can_write: bool = True
    permissions: Permissions = dataclasses.field(default_factory=dict)
    token: TokenReference | None = None
    limited: bool = False
    limited_to_types: bool = False

    @property
    def anonymous(self) -> bool:
        """True if nobody was authenticated. The service itself is a superuser without an account."""
        return self.user_id is None and not self.superuser


ANONYMOUS = Identity(can_write=False)
