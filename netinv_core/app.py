"""App: the resources, views, migrations and settings that a package contributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.resource import Resource

if TYPE_CHECKING:
    from netinv_core.settings import Known


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
