"""Presentation of resources on pages for people: data only, so that it costs nothing without a web interface.

Everything has a default that follows from the resource's fields. A :class:`Presentation` only arranges them.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Presentation:
    """Arrangement of a resource's fields in lists, details and forms. Names are those of fields.

    * ``icon``: name of an icon of the set Heroicons;
    * ``columns``: columns of the list by default, after the one with the object's display name;
    * ``fieldsets``: pairs of a heading and the fields of a group, in details and forms. Fields without a group follow;
    * ``facets``: fields whose values are counted beside the list;
    * ``depends_on``: for a reference, the references of the same form that narrow its choices, each with the filter of
      the target: ``{"rack": {"site": "site_id", "location": "location_id"}}``;
    * ``summary``: fields of the line below an object's name;
    * ``quick_fields``: fields of the short form in which a picker creates an object, by default the required ones;
    * ``hidden``: fields that pages leave out, because another part of the page shows them;
    * ``counted``: the home page says how many objects there are;
    * ``key``: a letter that opens the list when it is typed after ``g``.
    """

    icon: str = ""
    columns: Sequence[str] = ()
    fieldsets: Sequence[tuple[str, Sequence[str]]] = ()
    facets: Sequence[str] = ()
    depends_on: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=lambda: types.MappingProxyType({}))
    summary: Sequence[str] = ()
    quick_fields: Sequence[str] = ()
    hidden: Sequence[str] = ()
    counted: bool = False
    key: str = ""


@dataclasses.dataclass(frozen=True)
class MenuEntry:
    """An entry of the navigation that is no resource: ``path`` below the service's root, such as ``/dcim/elevations/``.

    It is shown to users who may view the resource with the ``label``; to everybody who is signed in without one, and to
    superusers only with ``superuser``. ``key`` is a letter that opens it when it is typed after ``g``.
    """

    title: str
    path: str
    label: str = ""
    superuser: bool = False
    key: str = ""


@dataclasses.dataclass(frozen=True)
class MenuSection:
    """A section of the navigation. Sections of several applications with one ``title`` are merged.

    ``entries`` are names of resources of the application, and :class:`MenuEntry`. Sections are in the order of
    ``position``, then as installed.
    """

    title: str
    entries: Sequence[str | MenuEntry] = ()
    icon: str = ""
    position: int = 500

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", tuple(self.entries))


def merged(first: Presentation, other: Presentation) -> Presentation:
    """``first``, with what ``other`` states in its place."""
    stated: dict[str, Any] = {
        field.name: value for field in dataclasses.fields(other) if (value := getattr(other, field.name))
    }
    return dataclasses.replace(first, **stated)
