"""State of a unit of work whose changes are made aside: they are rolled back, and kept as proposals."""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable


@dataclasses.dataclass(eq=False)
class Aside:
    """The change request that changes are added to, and functions that are called once they are rolled back.

    ``key`` is ``None`` as long as no change request is chosen.
    """

    key: uuid.UUID | None
    then: list[Callable[[], None]] = dataclasses.field(default_factory=list)
