"""Attributes of objects in templates that are neither fields nor relations: the hook ``netinv_template_members``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(frozen=True)
class Member:
    """An attribute of the objects of an endpoint, or with ``method`` a function without arguments.

    ``of_row(row)`` returns the value of a row of the table; ``load(uow, ids)`` those of a whole batch by id, in a fixed
    number of statements. Values of ``target``, a label, are ids or lists of ids of its objects. ``null`` stands for a
    null among other values.
    """

    of_row: Callable[[Any], Any] | None = None
    load: Callable[[UnitOfWork, Sequence[Any]], Mapping[Any, Any]] | None = None
    method: bool = False
    target: str = ""
    null: Any = None


@cached_in_registry
def members_of(endpoint: Endpoint) -> dict[str, Member]:
    """Returns the members that packages add to the objects of an endpoint, by name."""
    members: dict[str, Member] = {}
    for added in endpoint.registry.hooks.netinv_template_members(registry=endpoint.registry, endpoint=endpoint):
        members.update(added)
    return members
