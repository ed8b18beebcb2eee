"""A package that comes before the one whose hook it implements, and gets it wrong."""

from __future__ import annotations

from typing import Any

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl


@hookimpl
def netinv_app() -> App:
    return App("ahead", "Ahead", plugin=True)


@hookimpl
def netinv_context_scopes(registry: Any, planet: Any) -> list[Any]:
    return [planet]
