"""Writes that a resource offers (``Resource.writes``): what the API answers 405, no other way to write does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.errors import Denied
from netinv_core.labels import plural_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NOT_OFFERED = "{} cannot be {}."
WORDS = {"add": "created", "change": "changed", "delete": "deleted"}


def refusal(endpoint: Endpoint, action: str) -> str | None:
    """Returns why a resource's objects cannot be created, changed or deleted; ``None`` if they can.

    Actions with a permission of their own are offered by the action itself.
    """
    if action not in WORDS or action in endpoint.resource.writes:
        return None
    return NOT_OFFERED.format(plural_of(endpoint), WORDS[action])


def check(uow: UnitOfWork, endpoint: Endpoint, action: str) -> None:
    """Rejects a write that a resource does not offer, unless the service itself does it.

    :raises Denied: naming the action
    """
    reason = None if uow.is_system else refusal(endpoint, action)
    if reason is not None:
        raise Denied(reason)
