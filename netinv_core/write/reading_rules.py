"""Rules that name what they read of other objects (:mod:`netinv_core.write.referring_rules`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

Condition = Callable[[Any], Any]
Pairs = Callable[["UnitOfWork", Sequence[Any]], Any]


@dataclasses.dataclass(frozen=True)
class Reading:
    """Columns that a rule reads of objects related to those it checks.

    ``path`` leads there, across foreign keys (``lag.device``); its first step may be a list of objects. Rows on it are
    locked while the rule judges (:mod:`netinv_core.write.read_locks`), ``exclusive`` ones against each other too. With
    ``to_root`` its last step is taken again and again, up to the root of a tree.
    ``where`` is a condition that limits the objects checked, ``when`` says the same of a draft. In place of a path,
    ``pairs(uow, keys)`` is a SELECT of the ids of changed objects of ``to`` (a label) and of those that refer to them,
    by their columns ``by``.
    """

    columns: tuple[str, ...]
    path: str = ""
    where: Condition | None = None
    when: Callable[[Draft], bool] | None = None
    exclusive: bool = False
    to_root: bool = False
    to: str = ""
    pairs: Pairs | None = None
    by: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, eq=False)
class ReadingRule:
    """A rule with what it reads of other objects, and the own columns that it is about: it is called with the drafts
    that change one of these, with all drafts if there are none.
    """

    function: Callable[[UnitOfWork, Sequence[Draft]], None]
    reads: tuple[Reading, ...] = ()
    changing: tuple[str, ...] = ()

    def __call__(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        self.function(uow, drafts)

    def own_columns(self, endpoint: Endpoint) -> list[str]:
        """The columns of the objects that the rule compares with what it reads: references, and those of one name."""
        names = {name for reading in self.reads for name in (*reading.columns, *reading.by)}
        names |= {f"{reading.path.partition('.')[0]}_id" for reading in self.reads if reading.path}
        return sorted(names & set(endpoint.table.c.keys()))
