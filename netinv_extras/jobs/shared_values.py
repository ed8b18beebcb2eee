"""Short-lived values beside the messages of the queue, by which one process shows another what no transaction may write
now. They may be lost at any time: nothing depends on them.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from huey.constants import EmptyData

from netinv_core.tasks.queue import queue_at

if TYPE_CHECKING:
    from netinv_core.registry import Registry

log = logging.getLogger(__name__)


def put(registry: Registry, name: str, value: Any) -> None:
    """Stores a JSON value under a name; ``None`` deletes it. Does nothing without a queue."""
    url = registry.settings["queue_url"]
    if not url:
        return
    try:
        storage = queue_at(url).storage
        if value is None:
            storage.delete_data(name)
        else:
            storage.put_data(name, orjson.dumps(value))
    except Exception as error:  # errors of the queue, of any kind
        log.warning("the value %s was not stored in the queue: %s", name, error)


def get(registry: Registry, name: str) -> Any:
    """The JSON value under a name; ``None`` without one, or without a queue."""
    url = registry.settings["queue_url"]
    if not url:
        return None
    try:
        value = queue_at(url).storage.peek_data(name)
        return None if value is EmptyData else orjson.loads(value)
    except Exception as error:  # errors of the queue, of any kind
        log.warning("the value %s could not be read from the queue: %s", name, error)
        return None
