"""App and Feature: the resources, views, migrations and settings that a package contributes."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.presentation import MenuSection
from netinv_core.resource import Resource

if TYPE_CHECKING:
    from netinv_core.records import Setting, SettingDefinitions

DISABLED = "disabled_features"  # the setting that names the features to leave out


@dataclasses.dataclass(frozen=True)
class Feature:
    """A part of an application that :data:`DISABLED` can leave out. It is declared as ``feature`` of a module that has
    its hook implementations, too, and that :attr:`App.features` lists.

    ``extra_views`` are views of paths below the application's, by name (:func:`netinv_core.http.root_views.root`);
    ``root_views`` those of paths ``/api/<name>/``. ``includes`` names modules with ``includeme(config)``, which add
    actions (:mod:`netinv_core.http.actions`) and other views. ``web`` names the modules of its pages, which only a
    service with pages imports: each has implementations of hooks ``netinv_web_…``, or ``includeme(config)``, which
    adds pages, or both. ``menu`` are the sections of the navigation with its resources. ``settings`` are its settings
    in the ini file (:data:`netinv_core.settings.Known`). ``needs`` names the features without which it does not work:
    ``"statuses"`` of the same application, ``"extras.statuses"`` of another.
    """

    name: str
    title: str
    resources: Sequence[Resource] = ()
    extra_views: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    root_views: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    includes: Sequence[str] = ()
    settings: SettingDefinitions = dataclasses.field(default_factory=dict)
    menu: Sequence[MenuSection] = ()
    needs: Sequence[str] = ()
    web: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class App(Feature):
    """An application: ``name`` is its URL segment and the first half of its models' labels.

    ``migrations`` is ``"package:folder"`` of its Alembic branch; ``migrates_after`` names applications to whose tables
    its older migrations refer, where its tables no longer do. A ``plugin`` is served below ``/api/plugins/``.
    ``hooks`` is a module with hook specifications for other packages to implement. ``features`` names the modules of
    its features, in the order in which their hooks are called. Without a ``menu``, one section has all resources. One
    that is not ``rooted`` has no path ``/api/<name>/``: it has neither resources nor views below it. ``program_paths``
    are paths outside of ``/api/`` for programs: errors below them are JSON, not pages.
    """

    migrations: str | None = None
    migrates_after: Sequence[str] = ()
    plugin: bool = False
    hooks: Any = None
    description: str = ""
    author: str = ""
    version: str = ""
    distribution: str = ""
    rooted: bool = True
    program_paths: Sequence[str] = ()
    features: Sequence[str] = ()

    @property
    def path(self) -> str:
        """The path of the application's root, with slashes at both ends."""
        return f"/api/plugins/{self.name}/" if self.plugin else f"/api/{self.name}/"

    @property
    def views(self) -> Mapping[str, Any]:
        """Its extra views and root views, by path."""
        extra_views = {f"{self.path}{name}/": view for name, view in self.extra_views.items()}
        return extra_views | {f"/api/{name}/": view for name, view in self.root_views.items()}

    def modules(self) -> dict[str, Any]:
        """The modules of its features by their full names, such as ``extras.webhooks``.

        :raises TypeError: for a module without a feature
        """
        modules = map(importlib.import_module, self.features)
        return {f"{self.name}.{feature_of(module).name}": module for module in modules}

    def every_setting(self) -> dict[str, Setting]:
        """The settings of the application and of all of its features.

        :raises ValueError: when two of them have one name
        """
        settings: dict[str, Setting] = {}
        for part in (self, *map(feature_of, self.modules().values())):
            if taken := settings.keys() & part.settings.keys():
                raise ValueError(f"{part.name} claims settings that exist already: {', '.join(sorted(taken))}")
            settings |= part.settings
        return settings

    def without(self, disabled: Collection[str]) -> App:
        """The application with the resources, views and menu of its features in its own, except for the disabled ones.
        Settings remain known, so that disabling a feature takes one line of the ini file.
        """
        modules = {name: module for name, module in self.modules().items() if name not in disabled}
        parts: list[Feature] = [self, *map(feature_of, modules.values())]
        return dataclasses.replace(
            self,
            resources=[resource for part in parts for resource in part.resources],
            extra_views={name: view for part in parts for name, view in part.extra_views.items()},
            root_views={name: view for part in parts for name, view in part.root_views.items()},
            includes=[module for part in parts for module in part.includes],
            settings=self.every_setting(),
            menu=[section for part in parts for section in part.menu],
            features=[module.__name__ for module in modules.values()],
            web=[module for part in parts for module in part.web],
        )


def feature_of(module: Any) -> Feature:
    """The feature that a module declares.

    :raises TypeError: when it declares none
    """
    feature = getattr(module, "feature", None)
    if not isinstance(feature, Feature):
        raise TypeError(f"the module {module.__name__} has no Feature called feature")
    return feature


def feature_mistakes(apps: Collection[App], disabled: Collection[str]) -> Iterator[str]:
    """A sentence for each disabled feature that does not exist, or that an application or feature needs."""
    known = {name: feature_of(module) for app in apps for name, module in app.modules().items()}
    setting = f"the setting netinv.{DISABLED}"
    for name in disabled:
        if name not in known:
            yield f"{setting} names {name}, which is not a feature; features are {', '.join(sorted(known))}"
    for app in apps:
        for name, needed in needs(app):
            if needed in disabled and name not in disabled:
                yield f"{setting} disables {needed}, which {name} needs"


def needs(app: App) -> Iterator[tuple[str, str]]:
    """The full names of the application, or of a feature of it, and of each feature that it needs."""
    for name, part in _parts(app).items():
        for needed in part.needs:
            yield name, needed if "." in needed else f"{app.name}.{needed}"


def check_names(app: App) -> None:
    """Checks the members of an application and its features that are lists of names.

    :raises TypeError: for anything else, such as a text
    """
    _check_names(app.name, app)
    for name, part in _parts(app).items():
        _check_names(name, part)


def _check_names(name: str, part: Feature) -> None:
    """Checks those of the application, or of one feature. ``includes`` may have functions in place of names."""
    for member in (field.name for field in dataclasses.fields(part) if field.type == "Sequence[str]"):
        names = getattr(part, member)
        if isinstance(names, str) or not all(isinstance(each, str) or callable(each) for each in names):
            raise TypeError(f"{member} of {name} is {names!r}; expected a list of names")


def _parts(app: App) -> dict[str, Feature]:
    """The application and its features by their full names."""
    return {app.name: app, **{name: feature_of(module) for name, module in app.modules().items()}}
