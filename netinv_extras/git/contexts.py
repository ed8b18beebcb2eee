"""Config contexts out of a repository's files, and the local contexts of single objects.

``config_contexts/<any>`` says in its metadata what it is limited to, ``config_contexts/<scope>/<natural key>`` by its place;
``config_contexts/devices/<name>`` is the local context data of that one device, as for every model that has such data.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.engine import in_parameter
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import table_of
from netinv_core.registry import Registry
from netinv_core.write import save
from netinv_extras.config_contexts.merge import LOCAL
from netinv_extras.config_contexts.models import NOT_AN_OBJECT
from netinv_extras.config_contexts.schemas import ConfigContextSchema
from netinv_extras.git.files import Fault
from netinv_extras.git.models import local_contexts
from netinv_extras.git.owned_objects import DELETED, METADATA, UNCHANGED, UPDATED, Document, Files, OwnedObjectSync, Sync, differing, documents, known_members

SCHEMA = "local_context_schema"
NOT_ITS_OWN = "{} has local context data already, and not from this repository"
_PLAIN = {"weight": 1000, "description": "", "is_active": True}
_SCHEMA_NAMES = ("schema", "config_context_schema")


def import_contexts(sync: Sync, files: Files) -> None:
    """The contexts, and then the local ones."""
    registry = sync.uow.registry
    bringing, schemas = OwnedObjectSync(sync, "extras.configcontext", ["name"]), _schemas(sync)
    local = {endpoint.resource.name.replace("-", "_"): endpoint for endpoint in registry.endpoints.values() if LOCAL in endpoint.table.c}
    locals_: dict[Endpoint, list[Document]] = {endpoint: [] for endpoint in local.values()}
    for document in documents(files, bringing.refuse):
        if document.folders and document.folders[0] in local and len(document.folders) == 1:
            locals_[local[document.folders[0]]].append(document)
            continue
        try:
            bringing.want(document.path, _context(registry, document, schemas))
        except Fault as error:
            bringing.refuse(document.path, str(error))
    bringing.settle()
    for endpoint, found in locals_.items():
        _Local(sync, endpoint, schemas, keep=bringing.unreadable).bring(found)


def _schemas(sync: Sync) -> dict[str, str]:
    """The ids of schemas by name: of several, the repository's own goes first, then one that nobody owns."""
    table, mine = table_of(ConfigContextSchema), sync.repository["id"]
    rows = list(sync.uow.execute(sa.select(table.c.name, table.c.id, table.c.owner_object_id)))
    rows.sort(key=lambda row: (row.owner_object_id == mine, row.owner_object_id is None, str(row.id)))
    return {row.name: str(row.id) for row in rows}


def _schema(document: Document, schemas: Mapping[str, str]) -> str | None:
    """The id of the schema that a file names.

    :raises Fault: when there is none of that name
    """
    named = next((document.metadata[name] for name in _SCHEMA_NAMES if document.metadata.get(name) is not None), None)
    named = named.get("name") if isinstance(named, dict) else named
    if named is not None and str(named) not in schemas:
        raise Fault(f"there is no config context schema called {named}")
    return None if named is None else schemas[str(named)]


def _context(registry: Registry, document: Document, schemas: Mapping[str, str]) -> dict[str, Any]:
    """The body of the context that a file holds.

    :raises Fault: when it says what nothing is known of
    """
    endpoint = registry["extras.configcontext"]
    scopes = {name: field for name, field in endpoint.writable.items() if isinstance(field, fields.ToMany)}
    known_members(document, ("name", *_PLAIN, *_SCHEMA_NAMES, *scopes))
    listed: dict[str, Any] = {name: document.metadata.get(name, []) for name in scopes}
    if document.folders:
        if len(document.folders) > 1 or document.folders[0] not in scopes:
            raise Fault(f"nothing is limited by {'/'.join(document.folders)}: the folders are {', '.join(sorted(scopes))}")
        listed[document.folders[0]] = [*listed[document.folders[0]], document.stem]
    members = {**_PLAIN, **{name: value for name, value in document.metadata.items() if name in _PLAIN}}
    found = {name: _named(scopes[name], values) for name, values in listed.items()}
    return {"name": str(document.metadata.get("name") or document.stem), **members, **found, "schema": _schema(document, schemas), "data": document.data}


def _named(field: fields.ToMany, values: Any) -> list[Any]:
    """The objects of a scope as the API takes them: by attributes, by id, or by the natural key.

    :raises Fault: when that is no list of them
    """
    if not isinstance(values, list):
        raise Fault(f"{METADATA}: {field.name} is not a list")
    return [_one(field, item) for item in values]


def _one(field: fields.ToMany, item: Any) -> Any:
    target = field.target
    assert target is not None
    if field.by is not None:
        found = item.get(field.by) if isinstance(item, dict) else item
        if not isinstance(found, str):
            raise Fault(f"{METADATA}: {field.name} are named by {field.by}")
        return found
    if isinstance(item, dict):
        return item
    return str(item) if _is_id(item) else {target.natural_sort: str(item)}


def _is_id(item: Any) -> bool:
    try:
        return bool(uuid.UUID(str(item)))
    except ValueError:
        return False


class _Local:
    """The local context data of one model's objects; ``keep`` says that nothing is taken away."""

    def __init__(self, sync: Sync, endpoint: Endpoint, schemas: Mapping[str, str], *, keep: bool) -> None:
        self.sync, self.endpoint, self.schemas, self.keep = sync, endpoint, schemas, keep
        self.uow, self.table = sync.uow, endpoint.table

    def bring(self, found: Sequence[Document]) -> None:
        """Makes the data of the objects that files are called after be what these hold, and takes away what came from files that are gone."""
        owned = self._owned()
        rows = self._rows({document.stem for document in found}, owned)
        named: dict[str, list[Any]] = {}
        for key, row in rows.items():
            named.setdefault(row["name"], []).append(key)
        bodies: dict[Any, tuple[str, dict[str, Any]]] = {}
        for document in found:
            try:
                key = self._object(document, named, rows, owned)
                if key in bodies:
                    raise Fault(f"{bodies[key][0]} is for the same object")
                bodies[key] = document.path, {LOCAL: document.data, SCHEMA: _schema(document, self.schemas)}
            except Fault as error:
                self.keep = True
                self.sync.report.refuse(document.path, str(error))
        self._set(bodies, rows, owned)
        if not self.keep:
            self._take_away(owned - bodies.keys(), rows)

    def _owned(self) -> set[Any]:
        """The ids of the objects of this model whose data comes from the repository."""
        mine = local_contexts.c.object_type == self.endpoint.label, local_contexts.c.repository_id == self.sync.repository["id"]
        return set(self.uow.execute(sa.select(local_contexts.c.object_id).where(*mine)).scalars())

    def _rows(self, names: Iterable[str], owned: Iterable[Any]) -> dict[Any, dict[str, Any]]:
        """The rows of the objects that are called so, or whose data came from here."""
        dialect, table = self.uow.registry.dialect, self.table
        wanted = sa.select(table).where(sa.or_(in_parameter(dialect, table.c.name, "names"), in_parameter(dialect, table.c.id)))
        found = self.uow.execute(wanted.with_for_update(), {"names": list(names), "keys": list(owned)}).mappings()
        return {row["id"]: dict(row) for row in found}

    def _object(self, document: Document, named: Mapping[str, list[Any]], rows: Mapping[Any, Any], owned: set[Any]) -> Any:
        """The id of the object that a file is for.

        :raises Fault: when there is not exactly one, or its data is not the repository's to set
        """
        known_members(document, _SCHEMA_NAMES)
        keys = named.get(document.stem, [])
        if len(keys) != 1:
            raise Fault(f"there are {len(keys) or 'no'} {self.endpoint.plural} called {document.stem}")
        if not isinstance(document.data, dict):
            raise Fault(NOT_AN_OBJECT)
        if rows[keys[0]][LOCAL] is not None and keys[0] not in owned:
            raise Fault(NOT_ITS_OWN.format(document.stem))
        return keys[0]

    def _set(self, bodies: Mapping[Any, tuple[str, Mapping[str, Any]]], rows: Mapping[Any, Mapping[str, Any]], owned: set[Any]) -> None:
        changed = differing(self.uow, self.endpoint, {key: (rows[key], body) for key, (_, body) in bodies.items()})
        for key, (path, body) in bodies.items():
            if key in changed:
                reason = self.sync.attempt(functools.partial(self._update, key, body))
                if reason is not None:
                    self.sync.report.refuse(path, reason)
                    continue
            self.sync.report.settle(self.endpoint.label, rows[key]["name"], UPDATED if key in changed else UNCHANGED)
            if key not in owned:
                self._own(key)

    def _own(self, key: Any) -> None:
        there = {"object_type": self.endpoint.label, "object_id": key}
        self.uow.write(sa.delete(local_contexts).filter_by(**there))  # of another repository, whose data somebody took away
        self.uow.write(sa.insert(local_contexts).values(**there, repository_id=self.sync.repository["id"]))

    def _update(self, key: Any, body: Mapping[str, Any]) -> None:
        save.update(self.uow, self.endpoint, [{**body, "id": str(key)}], partial=True)

    def _take_away(self, keys: Iterable[Any], rows: Mapping[Any, Mapping[str, Any]]) -> None:
        gone = list(keys)
        if not gone:
            return
        save.update(self.uow, self.endpoint, [{"id": str(key), LOCAL: None, SCHEMA: None} for key in gone if key in rows], partial=True)
        theirs = in_parameter(self.uow.registry.dialect, local_contexts.c.object_id)
        self.uow.write(sa.delete(local_contexts).where(local_contexts.c.object_type == self.endpoint.label, theirs), {"keys": gone})
        for key in gone:
            if key in rows:
                self.sync.report.settle(self.endpoint.label, rows[key]["name"], DELETED)
