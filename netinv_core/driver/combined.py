"""Statements that some databases run as one, with those that change rows in its CTEs, and others one after another."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa

# Column of a statement that stands alone on PostgreSQL: its commit does not wait for the disk.
_set_commit: Any = sa.literal_column("set_config('synchronous_commit', 'off', true)")
without_disk: Any = sa.select(_set_commit).scalar_subquery().label("without_disk")
Run = Callable[..., Any]  # runs a statement with values on the connection


class Combined(abc.ABC):
    """Several statements with one result, which depends on how they run in nothing but time.

    :attr:`is_insert` tells whether they change no row that exists.
    """

    is_dml, is_select, is_insert = True, False, False
    table: Any = None  # it writes no configuration

    @abc.abstractmethod
    def at_once(self, run: Run, values: Any) -> Any:
        """The result, by one statement with CTEs (PostgreSQL)."""

    @abc.abstractmethod
    def in_steps(self, run: Run, values: Any) -> Any:
        """The result, by one statement after another."""
