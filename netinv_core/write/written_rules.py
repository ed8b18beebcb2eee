"""Rules of packages about objects of any resource, judged after the rows of a batch are written.

They see the state that the write leaves, by SQL, within its transaction; what they reject is rolled back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


@cached_in_registry
def _rules(registry: Registry) -> list[Callable[[UnitOfWork, Endpoint, Sequence[Draft]], None]]:
    return [rule for rules in registry.hooks.netinv_written_rules(registry=registry) for rule in rules]


def check(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Has the rules judge written objects."""
    for rule in _rules(uow.registry) if drafts else ():
        rule(uow, endpoint, drafts)
