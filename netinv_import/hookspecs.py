"""Hooks of imports that packages may implement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.hookspecs import hookspec

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_import.mapping import DumpMapping


@hookspec
def netinv_complete_import(uow: UnitOfWork, mapping: DumpMapping) -> None:
    """Adds objects and values to a dump that its objects need here (``mapping.add``, ``mapping.keep``)."""
