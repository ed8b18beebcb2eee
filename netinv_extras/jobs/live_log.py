"""Log entries of running jobs that wait for the database, shown beforehand through the queue.

While a job writes on SQLite nobody else can, so its worker stores the entries when the job has ended. Until then it
keeps the last ones in the queue (:mod:`netinv_extras.jobs.shared_values`), where pages find them.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_extras.jobs import shared_values

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MAX_ENTRIES = 200  # the last ones are kept


def share(registry: Registry, key: Any, entries: Sequence[Mapping[str, Any]]) -> None:
    """Keeps the entries of a run that are not stored yet, as the process of the job sent them; none: keeps nothing."""
    shared_values.put(registry, _name(key), list(entries[-MAX_ENTRIES:]) or None)


def shared_entries(registry: Registry, key: Any) -> list[dict[str, Any]]:
    """The entries of a running job that are not stored yet, in order, as far as they are known."""
    if not registry.driver.locks_database:  # elsewhere they are stored at once
        return []
    entries = shared_values.get(registry, _name(key)) or []
    return [entry | {"created": datetime.datetime.fromisoformat(entry["created"])} for entry in entries]


def _name(key: Any) -> str:
    return f"job-log-{key}"
