"""Navigation: sections of resources and pages, limited to what the user may view, cached by permissions."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.auth import permissions
from netinv_core.auth.account import Identity
from netinv_core.errors import Denied
from netinv_core.labels import plural_of
from netinv_core.packages import errors_of
from netinv_core.presentation import MenuEntry, MenuSection, check_menu
from netinv_core.registry_cache import cached_in_registry
from netinv_web.lists.columns import presentation_of
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

PLUGINS = "Plugins"
PLUGIN_POSITION = 800


@dataclasses.dataclass(frozen=True)
class Entry:
    """An entry of the navigation. ``add`` is the path of the form for a new object; empty without permission. ``key``
    is the letter that opens it after ``g``. ``base`` is the path of a resource whose pages belong to the entry, too.
    """

    title: str
    path: str
    add: str = ""
    key: str = ""
    base: str = ""


@dataclasses.dataclass(frozen=True)
class Section:
    """A section of the navigation."""

    title: str
    icon: str
    entries: tuple[Entry, ...]


def declared_sections(registry: Registry) -> list[tuple[MenuSection, str]]:
    """The sections that packages declare, each with the name of its application, in order of position.

    An application without sections has one of its own; that of a plugin is called :data:`PLUGINS`.
    """
    sections: list[tuple[MenuSection, str]] = []
    for name, app in registry.apps.items():
        declared = app.menu
        if not declared and app.resources:
            names = [resource.name for resource in app.resources]
            title, position = (PLUGINS, PLUGIN_POSITION) if app.plugin else (app.title, 500)
            declared = [MenuSection(title, names, "puzzle-piece", position)]
        sections += [(section, name) for section in declared]
    for package, others in registry.call_each("netinv_web_menu", registry=registry):
        with errors_of(package):
            added = list(others)
            check_menu("netinv_web_menu returns", added)
            sections += [(section, package) for section in added]
    return sorted(sections, key=lambda pair: pair[0].position)


@cached_in_registry
def places_in_menu(registry: Registry) -> Mapping[str, int]:
    """The place of each resource in the navigation, by label, whoever may view it."""
    listed = [
        registry.by_path.get((app, entry))
        for section, app in declared_sections(registry)
        for entry in section.entries
        if isinstance(entry, str)
    ]
    return {endpoint.label: place for place, endpoint in enumerate(listed) if endpoint is not None}


def menu_of(uow: UnitOfWork) -> tuple[Section, ...]:
    """The sections with entries that the user may view; from the configuration's cache."""
    sections: tuple[Section, ...] = uow.cached_config(("web menu", menu_key(uow)), _visible_sections)
    return sections


def menu_key(uow: UnitOfWork) -> Any:
    """Cache key of a navigation: the rights of the user that it depends on."""
    identity = uow.identity
    return identity.superuser, identity.anonymous, identity.can_write, frozenset(identity.permissions)


def _visible_sections(uow: UnitOfWork) -> tuple[Section, ...]:
    entries_by_title: dict[str, list[Entry]] = {}
    icons: dict[str, str] = {}
    declared = declared_sections(uow.registry)
    listed = [(app, entry) for section, app in declared for entry in section.entries if isinstance(entry, str)]
    endpoints = [uow.registry.by_path[name] for name in listed if name in uow.registry.by_path]
    for section, app in declared:
        entries_by_title.setdefault(section.title, []).extend(_entries(uow, section, app, endpoints))
        icons.setdefault(section.title, section.icon)
    return tuple(Section(title, icons[title], tuple(entries)) for title, entries in entries_by_title.items() if entries)


def _entries(uow: UnitOfWork, section: MenuSection, app: str, listed: Collection[Endpoint]) -> Iterable[Entry]:
    """The entries of a section. The pages of a resource belong to a page's entry unless the resource is ``listed``."""
    for declared in section.entries:
        if isinstance(declared, MenuEntry):
            if _may_open(uow, declared):
                endpoint = uow.registry.get(declared.label)
                base = page_path(endpoint) if endpoint is not None and endpoint not in listed else ""
                yield Entry(declared.title, declared.path, key=declared.key, base=base)
            continue
        endpoint = uow.registry.by_path.get((app, declared))
        if endpoint is not None and may(uow, endpoint, "view"):
            can_add = "add" in endpoint.resource.writes and may(uow, endpoint, "add")
            path = page_path(endpoint)
            yield Entry(plural_of(endpoint), path, f"{path}add/" if can_add else "", presentation_of(endpoint).key)


def _may_open(uow: UnitOfWork, entry: MenuEntry) -> bool:
    identity: Identity = uow.identity
    if entry.superuser:
        return identity.superuser
    if not entry.label:
        return not identity.anonymous
    endpoint = uow.registry.get(entry.label)
    return endpoint is not None and may(uow, endpoint, "view")


def may(uow: UnitOfWork, endpoint: Endpoint, action: str) -> bool:
    """True when the user has permission for an action on some objects of a resource."""
    try:
        permissions.check(uow, endpoint, action)
    except Denied:
        return False
    return True
