"""Output of commands: tables, JSON lists and counted words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import click

PIPED_WIDTH = 10_000  # columns

json_option = click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")


def table_width() -> int | None:
    """The width of tables: that of the terminal (``None``), or one that cuts nothing, for pipes and files."""
    return None if sys.stdout.isatty() else PIPED_WIDTH


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    """Prints rows as a JSON list; times in ISO 8601, other values without a JSON type as texts."""
    shown = json.dumps(list(rows), indent=2, ensure_ascii=False, default=_text)
    click.echo(shown)


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def with_number(number: int, word: str) -> str:
    """A number with its word: ``1 problem``, ``2 problems``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
