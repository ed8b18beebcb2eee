"""Statements that some databases run as one, with those that change rows in its CTEs, and others one after another."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]  # runs a statement with values on the connection


class Combined(abc.ABC):
    """Several statements with one result, which depends on how they run in nothing but time.

    :attr:`is_insert` tells whether they change no row that exists.
    """

    is_dml, is_select, is_insert = True, False, False

    @abc.abstractmethod
    def at_once(self, run: Run, values: Any) -> Any:
        """The result, by one statement with CTEs (PostgreSQL)."""

    @abc.abstractmethod
    def in_steps(self, run: Run, values: Any) -> Any:
        """The result, by one statement after another."""
