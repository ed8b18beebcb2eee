"""Objects that were created for tests of filters, and the ids of those among them that a query selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from netinv_testing import Service

Row = dict[str, Any]


class Rows(list[Row]):
    """Objects of one path, which the parameters ``scope`` select from all others.

    Reports of failures show their number only.
    """

    def __init__(self, path: str, scope: dict[str, Any], rows: list[Row]) -> None:
        super().__init__(rows)
        self.path, self.scope = path, scope

    def __repr__(self) -> str:
        return f"{len(self)} objects of {self.path}"

    def found(self, service: Service, **query: Any) -> set[str]:
        """The ids of those that a query selects."""
        page = service.api.get(self.path, {**self.scope, "limit": 0, "brief": 1, **query})
        return {item["id"] for item in page["results"]}

    def that(self, holds: Callable[[Row], bool]) -> set[str]:
        """The ids of those for which something holds."""
        return {row["id"] for row in self if holds(row)}
