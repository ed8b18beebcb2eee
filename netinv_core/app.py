"""Applications: what a distribution contributes, and how it is found."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from packaging.requirements import Requirement

from netinv_core.resource import Resource
from netinv_core.settings import Known

ENTRY_POINTS = "netinv"
log = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True)
class App:
    """An application: ``name`` is its URL segment and the first half of its models' labels.

    ``migrations`` is ``"package:folder"`` of its Alembic branch; a ``plugin`` is served under ``/api/plugins/``.
    ``pages`` are its paths that are no resources, by name (:func:`netinv_core.http.root_views.root`), ``doors`` those that stand beside the
    applications, as ``/api/<name>/``; ``includes`` names modules with ``includeme(config)``, for views of its own. ``hooks`` is a module
    with hook specifications of its own, for other packages to implement; ``settings`` are those of the ini file that it reads
    (:data:`netinv_core.settings.Known`).
    """

    name: str
    title: str
    resources: Sequence[Resource] = ()
    migrations: str | None = None
    plugin: bool = False
    extra_views: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    root_views: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    includes: Sequence[str] = ()
    hooks: Any = None
    settings: Known = dataclasses.field(default_factory=dict)
    description: str = ""
    author: str = ""
    version: str = ""
    distribution: str = ""

    @property
    def path(self) -> str:
        """The path of the application's root, with slashes at both ends."""
        return f"/api/plugins/{self.name}/" if self.plugin else f"/api/{self.name}/"

    @property
    def views(self) -> Mapping[str, Any]:
        """The views of its pages and doors, by path."""
        pages = {f"{self.path}{name}/": view for name, view in self.extra_views.items()}
        return pages | {f"/api/{name}/": view for name, view in self.root_views.items()}


@dataclasses.dataclass(frozen=True)
class FailedPackage:
    """A package that does not load or does not fit: reported, and its paths answer 503; the service starts without it."""

    name: str
    distribution: str
    reason: str


# Hook modules by the names of their entry points, and what does not load.
Packages = tuple[list[tuple[str, Any]], list[FailedPackage]]


def discover() -> Packages:
    """The hook modules of every installed package, by entry point, and those that do not import or do not fit."""
    found: list[tuple[str, Any]] = []
    broken: list[FailedPackage] = []
    for entry in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda e: (e.name != "core", e.name)):
        distribution = entry.dist.name if entry.dist is not None else ""
        unmet = _unmet(entry.dist) if entry.dist is not None else None
        if unmet is not None:
            log.error("package %s of %s does not fit; the service starts without it: %s", entry.name, distribution, unmet)
            broken.append(FailedPackage(entry.name, distribution, unmet))
            continue
        try:
            found.append((entry.name, entry.load()))
        except Exception as error:
            log.exception("package %s of %s does not load; the service starts without it", entry.name, distribution)
            broken.append(FailedPackage(entry.name, distribution, f"{type(error).__name__}: {error}"))
    return found, broken


def apps_of(modules: Sequence[tuple[str, Any]]) -> list[App]:
    """The applications that hook modules bring."""
    return [module.netinv_app() for _, module in modules if hasattr(module, "netinv_app")]


def _unmet(distribution: importlib.metadata.Distribution) -> str | None:
    """What a package requires of netinv's own packages that those installed do not meet; ``None`` when all is well."""
    for text in distribution.requires or ():
        wanted = Requirement(text)
        if not wanted.name.startswith("netinv") or (wanted.marker is not None and not wanted.marker.evaluate({"extra": ""})):
            continue
        try:
            version = importlib.metadata.version(wanted.name)
        except importlib.metadata.PackageNotFoundError:
            return f"it requires {wanted.name}, which is not installed"
        if not wanted.specifier.contains(version, prereleases=True):
            return f"it requires {wanted.name}{wanted.specifier}, and {version} is installed"
    return None
