"""Utilisation: how much of a whole is taken, as a read-only field that requests ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.fields.base import Field
from netinv_core.fields.to_many import keys_of
from netinv_core.wrong_results import wrong_result

if TYPE_CHECKING:
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

EXACT = 1 << 53  # integers from here on are floating-point numbers in JSON: no reader of JSON knows them exactly


@dataclasses.dataclass(frozen=True)
class Share:
    """A part of a whole, counted in ``unit``: addresses, rack units, watts."""

    part: int
    whole: int
    unit: str = ""

    @property
    def percent(self) -> int:
        """The part in percent of the whole, rounded down; 0 of nothing. It may exceed 100."""
        return self.part * 100 // self.whole if self.whole else 0

    @property
    def ratio(self) -> float:
        """The part of the whole, as a number to sort by; 0 of nothing."""
        return self.part / self.whole if self.whole else 0.0

    def represented(self) -> dict[str, Any]:
        """The member of a representation; its percentage has two decimals."""
        percent = self.part * 10_000 // self.whole / 100 if self.whole else 0.0
        return {"used": _number(self.part), "size": _number(self.whole), "unit": self.unit, "percent": percent}


def _number(value: int) -> int | float:
    return value if value < EXACT else float(value)


Shares = Share | Mapping[str, Share]  # one, or several by name: units and power of a rack


@dataclasses.dataclass(eq=False, kw_only=True)
class Utilization(Field):
    """The share of an object that is taken. ``load(uow, ids)`` returns the :data:`Shares` of a whole page by id.

    It tells of other objects, so it is read only where a query names it. Lists can be ordered by it
    (:mod:`netinv_core.read.ranked`).
    """

    load: Callable[[UnitOfWork, list[Any]], Mapping[Any, Shares]]
    label: str | None = "Utilization"
    read_only: bool = True
    opt_in: bool = True
    own: bool = True
    derived: bool = True
    nullable: bool = True
    openapi: dict[str, Any] = dataclasses.field(default_factory=lambda: {"type": "object"})

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        key = plan.column(place, "id")
        batch = plan.batch(lambda uow, rows: _represent(self._load(uow, keys_of(rows, key))))
        return lambda row, page: page.batches[batch].get(row[key])

    def _load(self, uow: UnitOfWork, keys: list[Any]) -> Mapping[Any, Shares]:
        shares = self.load(uow, keys)
        if not isinstance(shares, Mapping):
            raise wrong_result(self.load, shares, "a mapping")
        for share in shares.values():
            if not isinstance(share, Share | Mapping):
                raise wrong_result(self.load, share, "shares")
        return shares

    def text(self, value: Any) -> str:
        if not isinstance(value, Mapping):
            return ""
        if "percent" in value:
            return f"{value['percent']} %"
        return ", ".join(f"{name} {share['percent']} %" for name, share in value.items())

    def ranks(self, uow: UnitOfWork, keys: list[Any]) -> dict[Any, float]:
        """The numbers by which objects are ordered, by id: of several shares, the first."""
        shares = self._load(uow, keys)
        return {key: ratio for key, share in shares.items() if (ratio := _ratio(share)) is not None}


def _represent(shares: Mapping[Any, Shares]) -> dict[Any, Any]:
    return {
        key: share.represented()
        if isinstance(share, Share)
        else {name: part.represented() for name, part in share.items()}
        for key, share in shares.items()
    }


def _ratio(share: Shares) -> float | None:
    if isinstance(share, Share):
        return share.ratio
    first = next(iter(share.values()), None)
    return None if first is None else first.ratio
