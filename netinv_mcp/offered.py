"""Subjects of tools: the models, paths and actions of the installed packages."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.http.actions import ActionRoute, actions_of

if TYPE_CHECKING:
    from netinv_core.registry import Registry

TRACES = frozenset({"trace", "paths"})
FREE = "available-"  # the beginning of the names of actions that tell what is free
CONTEXT = "config_context"
Schema = dict[str, Any]
MODEL: Schema = {"type": "string", "maxLength": 100, "description": "A model, such as dcim.device."}


@dataclasses.dataclass(frozen=True)
class Offered:
    """Models, paths and actions of the installed packages. Its methods are schemas of arguments.

    ``paths`` are those of views. ``traces`` and ``free`` are models with actions that trace cables, or that tell what
    is free, with the names of these actions. ``contexts`` are models with configuration contexts.
    """

    registry: Registry
    paths: frozenset[str]
    traces: Mapping[str, Sequence[str]]
    free: Mapping[str, Sequence[str]]
    contexts: Sequence[str]

    def model(self) -> Schema:
        """A model."""
        return {**MODEL, "enum": sorted(self.registry.endpoints)}

    def traced(self) -> Schema:
        """A model whose objects cables lead through."""
        return {**MODEL, "enum": list(self.traces)}

    def divided(self) -> Schema:
        """A model whose objects tell what is free in them."""
        return {**MODEL, "enum": list(self.free)}

    def kinds(self) -> Schema:
        """The kinds of what is free."""
        return {"enum": sorted({name.removeprefix(FREE) for names in self.free.values() for name in names})}

    def configured(self) -> Schema:
        """A model whose objects have configuration contexts."""
        return {**MODEL, "enum": list(self.contexts)}

    def limit(self) -> Schema:
        """The number of objects of a page."""
        return {"type": "integer", "minimum": 1, "maximum": self.registry.settings["max_page_size"] or 1000}


def offered_by(configured: Any) -> Offered:
    """The models, paths and actions of the packages in a Pyramid registry."""
    registry: Registry = configured.netinv
    actions = [action for action in actions_of(configured) if "get" in action.views and not action.on_list]
    return Offered(
        registry,
        frozenset(path for app in registry.apps.values() for path in app.views),
        _models_with_actions(registry, actions, lambda name: name in TRACES),
        _models_with_actions(registry, actions, lambda name: name.startswith(FREE)),
        sorted(endpoint.label for endpoint in registry.endpoints.values() if CONTEXT in endpoint.fields),
    )


def _models_with_actions(
    registry: Registry, actions: Sequence[ActionRoute], wanted: Callable[[str], bool]
) -> dict[str, Sequence[str]]:
    """The models that have certain actions, with their names."""
    found: dict[str, list[str]] = {}
    for action in actions:
        for endpoint in action.endpoints(registry) if wanted(action.name) else ():
            found.setdefault(endpoint.label, []).append(action.name)
    return {label: found[label] for label in sorted(found)}
