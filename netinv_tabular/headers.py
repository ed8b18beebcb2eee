"""Names of columns as people have them: in any case, with spaces, in the words of pages, of NetBox and of Nautobot."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from netinv_core.fields import Reference
from netinv_core.importing.dump import Source
from netinv_core.labels import label_with_unit
from netinv_core.models.base import CUSTOM_FIELD_PREFIX
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.table_rows import ID, JoinedColumns

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PRODUCTS = ("netbox", "nautobot2")  # whose names of fields importers know
_BETWEEN = re.compile(r"[\s_\-./:]+")
_SUFFIXES = ("id", "name", "slug", "model")


@dataclasses.dataclass(frozen=True)
class Columns:
    """The columns of a resource: those that can be written, those that are ignored, and those that together name an
    object.
    """

    writable: Mapping[str, str]  # labels by name
    ignored: frozenset[str]
    joined: Sequence[JoinedColumns] = ()

    @property
    def names(self) -> list[str]:
        """All names that a file may have."""
        return [*self.writable, *dict.fromkeys(name for item in self.joined for name in item.names)]


def columns_of(uow: UnitOfWork, endpoint: Endpoint) -> Columns:
    """The columns of a resource."""
    labels = {
        column.name: label_with_unit(field)
        if not column.members
        else column.name.removeprefix(CUSTOM_FIELD_PREFIX).replace("_", " ")
        for field in endpoint.writable.values()
        for column in field.cell_columns(uow)
    }
    ignored = frozenset(endpoint.fields.keys() - labels.keys() - {ID})
    return Columns({ID: "ID", **labels}, ignored, joined_columns(endpoint))


@cached_in_registry
def joined_columns(endpoint: Endpoint) -> tuple[JoinedColumns, ...]:
    """The columns that together name what several fields hold, which packages add."""
    registry = endpoint.registry
    found = registry.hooks.netinv_joined_columns(registry=registry, endpoint=endpoint)
    return tuple(item for items in found for item in items)


def recognise(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> dict[str, str]:
    """The columns that the names of a file mean, by these names. What means none, or one that is there already, is
    left out.
    """
    columns = columns_of(uow, endpoint)
    known = _by_key(endpoint, columns)
    taken = {name for name in names if name in known.values()}
    result = {}
    for name in names:
        column = name if name in known.values() else known.get(_key(name)) or _path(endpoint, name)
        if column and (column == name or column not in taken):
            result[name] = column
            taken.add(column)
    return result


def nearest(columns: Columns, name: str) -> list[str]:
    """The columns whose names are like another one."""
    keys = {_key(column): column for column in columns.names}
    return [keys[key] for key in difflib.get_close_matches(_key(name), list(keys), 3, 0.6)]


def _key(name: str) -> str:
    return _BETWEEN.sub("_", name.strip().strip("*").strip().casefold()).strip("_")


def _by_key(endpoint: Endpoint, columns: Columns) -> dict[str, str]:
    """The columns by the keys of all their names; their own names take precedence."""
    own = {_key(name): name for name in [*columns.ignored, *columns.names]}
    labels = {_key(label): name for name, label in columns.writable.items()}
    of_custom_fields = [name for name in columns.writable if name.startswith(CUSTOM_FIELD_PREFIX)]
    custom = {_key(name.removeprefix(CUSTOM_FIELD_PREFIX)): name for name in of_custom_fields}
    others = {_key(old): new for old, new in _field_synonyms(endpoint).items() if new in columns.writable}
    joined = {_key(alias): name for item in columns.joined for alias, name in item.aliases.items()}
    return {**custom, **others, **labels, **joined, **own}


@cached_in_registry
def _field_synonyms(endpoint: Endpoint) -> dict[str, str]:
    """The names of fields here, by those in other services: importers declare them."""
    registry = endpoint.registry
    names: dict[str, str] = {}
    for product in PRODUCTS:
        for models in registry.hooks.netinv_importers(registry=registry, product=product):
            source = models.get(endpoint.label)
            names |= source.rename if isinstance(source, Source) else {}
    return names


def _path(endpoint: Endpoint, name: str) -> str:
    """The column of a reference, or of an attribute of its object: ``Site name``, ``site_id``, ``site__slug``."""
    path = name.strip().replace("__", ".")
    if "." in path and _key(path.partition(".")[0]) in endpoint.writable:
        head, _, rest = path.partition(".")
        return f"{_key(head)}.{rest.casefold()}"
    owner, _, last = _key(name).rpartition("_")
    field = endpoint.writable.get(owner)
    if last not in _SUFFIXES or not isinstance(field, Reference) or field.target is None or field.plain:
        return ""
    if last == ID:
        return owner
    return f"{owner}.{last}" if last in field.target.fields else ""
