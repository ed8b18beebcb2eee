"""Joined tables of a plan, and the state of representing the rows that it selects."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


@dataclasses.dataclass(eq=False)
class RowSet:
    """State of representing the rows of one result.

    ``batches`` holds the results of the plan's batched loads. ``nested`` is a cache of nested representations, one
    dictionary by id for each reference of the plan: a page of devices has few sites. ``markup`` is one of cells.
    """

    uow: UnitOfWork
    base: str
    batches: list[dict[Any, Any]]
    nested: list[dict[Any, dict[str, Any]]]
    markup: dict[Any, Any] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class JoinedTable:
    """An aliased table in a plan's joins, its endpoint, and the path of attributes from the root to it."""

    table: Any
    endpoint: Endpoint
    path: tuple[str, ...] = ()
