"""Results of a run that is not a list of requests: tables of figures, and proofs."""

from __future__ import annotations

import dataclasses
import datetime
import os
import platform
from typing import Any

from rich.console import Console
from rich.table import Table

WIDTH, SHOWN = 120, 3  # columns where there is no terminal; errors printed of each row


@dataclasses.dataclass
class Special:
    """Results of a run: tables by name, and proofs: pairs of numbers that have to be equal, by what they say.

    All rows of a table have the same keys. A row's ``errors`` is the list of its errors.
    """

    conditions: str
    tables: dict[str, list[dict[str, Any]]]
    proofs: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)

    @property
    def is_wrong(self) -> bool:
        """True if a request was answered otherwise than expected, or a proof failed."""
        errors = [error for rows in self.tables.values() for row in rows for error in row.get("errors", ())]
        return bool(errors) or any(one != other for one, other in self.proofs.values())

    def data(self) -> dict[str, Any]:
        """The run as it is kept in a file."""
        return {
            "when": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "machine": {"system": platform.platform(), "python": platform.python_version(), "cpus": os.cpu_count()},
            **dataclasses.asdict(self),
        }

    def show(self, _: dict[str, Any] | None) -> None:
        """Prints the run."""
        console = Console()
        if not console.is_terminal:
            console = Console(width=WIDTH)
        console.print(self.conditions)
        for name, rows in self.tables.items():
            table = Table(name)
            columns = [key for key in rows[0] if key != "kind"]
            for column in columns:
                table.add_column(column.replace("_ms", " ms").replace("_", " "), justify="right")
            for row in rows:
                style = "red" if row.get("errors") else ""
                table.add_row(str(row.get("kind", "")), *(_cell(row[column]) for column in columns), style=style)
            console.print(table)
            for error in [error for row in rows for error in row.get("errors", ())[:SHOWN]]:
                console.print(error, style="red", markup=False, highlight=False)
        for text, (one, other) in self.proofs.items():
            console.print(f"{'equal' if one == other else 'NOT EQUAL'}: {text}: {one}, {other}")


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return str(len(value))
    return f"{value:.1f}" if isinstance(value, float) else str(value)
