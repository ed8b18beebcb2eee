"""App: the resources, views, migrations and settings that a package contributes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.presentation import MenuSection
from netinv_core.resource import Resource

if TYPE_CHECKING:
    from netinv_core.settings import SettingDefinitions


@dataclasses.dataclass(frozen=True)
class App:
    """An application: ``name`` is its URL segment and the first half of its models' labels.

    ``migrations`` is ``"package:folder"`` of its Alembic branch. A ``plugin`` is served below ``/api/plugins/``.
    ``extra_views`` are views of paths below the application's, by name (:func:`netinv_core.http.root_views.root`);
    ``root_views`` those of paths ``/api/<name>/``. ``includes`` names modules with ``includeme(config)``, which add
    actions (:mod:`netinv_core.http.actions`) and other views. ``hooks`` is a module with hook specifications for other
    packages to implement. ``menu`` are the sections of the navigation with its resources; by default one section has
    all of them. ``settings`` are its settings in the ini file (:data:`netinv_core.settings.Known`).
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
    settings: SettingDefinitions = dataclasses.field(default_factory=dict)
    menu: Sequence[MenuSection] = ()
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
        """Its extra views and root views, by path."""
        extra_views = {f"{self.path}{name}/": view for name, view in self.extra_views.items()}
        return extra_views | {f"/api/{name}/": view for name, view in self.root_views.items()}
