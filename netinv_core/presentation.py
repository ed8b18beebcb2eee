"""Presentation of resources on pages for people: data only, so that it costs nothing without a web interface.

Everything has a default that follows from the resource's fields. A :class:`Presentation` only arranges them.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from netinv_core import declared_types

SEPARATOR = " › "  # between the name of a parent and that of a part
MAX_MENU = 200  # sections and entries of the navigation that one package adds
PLACE_SEPARATOR = " · "  # between a name and where it is valid
NAME_WITHIN = (
    "name_within"  # as NAME_IN_CONTEXT, of an object in the name of another: without what it does not show there
)
NAME_IN_CONTEXT = "name_in_context"  # as a path that plans read; as a shape of plans: the name, id and URL alone


@dataclasses.dataclass(frozen=True)
class Presentation:
    """Arrangement of a resource's fields in lists, details and forms. Names are those of fields.

    * ``icon``: name of an icon of the set Heroicons;
    * ``columns``: columns of the list by default, after the one with the object's display name;
    * ``fieldsets``: pairs of a heading and the fields of a group, in details and forms. Fields without a group follow;
    * ``facets``: fields whose values are counted beside the list;
    * ``queues``: titles and query parameters of parts of the list that people work through, shown above it with counts;
    * ``depends_on``: for a reference, the references of the same form that narrow its choices, each with the filter of
      the target: ``{"rack": {"site": "site_id", "location": "location_id"}}``;
    * ``limits``: for a reference, query parameters that always narrow its choices; ``{id}`` is the object of the form:
      ``{"primary_ip4": {"device_id": "{id}", "family": "4"}}``;
    * ``summary``: fields of the line below an object's name;
    * ``quick_fields``: fields of the short form in which a picker creates an object, by default the required ones;
    * ``nested_below``: references to objects of the same resource; in tabs, rows are indented below the first of these;
    * ``leading``: names of the panels that the page of an object begins with, in this order; the facts are beside them;
    * ``tabs``: names of tabs with lists of what belongs to an object, those that come first;
    * ``hidden``: fields that pages leave out, because another part of the page shows them;
    * ``flags``: fields that say something only when they are true; the page of an object folds them otherwise;
    * ``unrelated``: references of other models to the objects, which the panel *Related* leaves out, because another
      part of the page shows the objects that refer: of a cable, ``["cable"]`` of the ports at its ends;
    * ``name_in_context``: the name of an object on a page that does not show what it belongs to, in the form of
      ``display`` of a resource: a path, or ``(function, *paths)``; or a function that returns such a form for a
      registry. By default the name of the parent, by a required
      cascading foreign key, is before the display name: ``router1 › eth0``. The display name does for other models, and
      for those whose display name has values of other objects already. :func:`within` and :func:`beside` join names;
    * ``containers``: objects that an object is within, for the breadcrumb: a function of the unit of work and a
      representation, which returns the name, the resource's label and the id of each, the outermost first;
    * ``found_with``: a path whose value search results show beside the name, such as the interface of an address;
    * ``empty``: the sentence of an empty list, about how objects come about; by default what they are, from the model's
      docstring;
    * ``counted``: the home page says how many objects there are;
    * ``key``: a letter that opens the list when it is typed after ``g``.
    """

    icon: str = ""
    columns: Sequence[str] = ()
    fieldsets: Sequence[tuple[str, Sequence[str]]] = ()
    facets: Sequence[str] = ()
    queues: Sequence[tuple[str, Mapping[str, str]]] = ()
    depends_on: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=lambda: types.MappingProxyType({}))
    limits: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=lambda: types.MappingProxyType({}))
    summary: Sequence[str] = ()
    quick_fields: Sequence[str] = ()
    nested_below: Sequence[str] = ()
    leading: Sequence[str] = ()
    tabs: Sequence[str] = ()
    hidden: Sequence[str] = ()
    flags: Sequence[str] = ()
    unrelated: Sequence[str] = ()
    found_with: str = ""
    empty: str = ""
    counted: bool = False
    key: str = ""
    name_in_context: Any = None
    containers: Any = None


def within(parent: Any, name: Any) -> str:
    """The name of an object after that of its parent, if it has one."""
    return f"{parent}{SEPARATOR}{name}" if parent else str(name)


def beside(name: Any, *places: Any) -> str:
    """The name of an object, then the first of the places that it may be in: ``10 Management · Lisbon``."""
    place = next(filter(None, places), None)
    return f"{name}{PLACE_SEPARATOR}{place}" if place else str(name)


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


def check_menu(place: str, sections: Iterable[Any]) -> None:
    """Checks the sections that a package adds to the navigation.

    :param place: what has them, with its verb
    :raises TypeError: for anything else than sections and entries with texts
    :raises ValueError: for more than :data:`MAX_MENU` sections and entries
    """
    count = 0
    for section in sections:
        if not isinstance(section, MenuSection):
            raise TypeError(f"{place} {type(section).__name__} instead of MenuSection")
        for item in (section, *(entry for entry in section.entries if isinstance(entry, MenuEntry))):
            for mistake in declared_types.mistakes(item):
                raise TypeError(f"{place} a {mistake}")
        for entry in section.entries:
            if not isinstance(entry, str | MenuEntry):
                raise TypeError(
                    f"the section {section.title!r} of the menu has {entry!r}; expected a resource or a MenuEntry"
                )
        count += 1 + len(section.entries)
    if count > MAX_MENU:
        raise ValueError(f"{place} {count} sections and entries; a package may have {MAX_MENU}")


def merged(first: Presentation, other: Presentation) -> Presentation:
    """``first``, with what ``other`` states in its place."""
    stated: dict[str, Any] = {
        field.name: value for field in dataclasses.fields(other) if (value := getattr(other, field.name))
    }
    return dataclasses.replace(first, **stated)
