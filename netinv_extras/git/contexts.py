"""Config contexts from the files of a repository, and local context data of single objects.

``config_contexts/<any>`` names its scopes in the metadata, ``config_contexts/<scope>/<natural key>`` by its path.
``config_contexts/devices/<name>`` is the local context data of that device; likewise for every model with such data.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.db.expressions import in_parameter
from netinv_core.models.base import table_of
from netinv_core.write import save
from netinv_core.write.differing import find_differing
from netinv_extras.config_contexts.merge import LOCAL
from netinv_extras.config_contexts.models import NOT_AN_OBJECT
from netinv_extras.config_contexts.schemas import ConfigContextSchema
from netinv_extras.git.files import FileFault
from netinv_extras.git.models import local_contexts
from netinv_extras.git.owned_objects import (
    METADATA,
    OwnedDocument,
    OwnedObjectSync,
    documents,
    reject_unknown_members,
)
from netinv_extras.git.sync import DELETED, UNCHANGED, UPDATED, Files, Sync

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

SCHEMA = "local_context_schema"
ALREADY_SET = "{} has local context data already, and not from this repository"
_DEFAULTS = {"weight": 1000, "description": "", "is_active": True}
_SCHEMA_NAMES = ("schema", "config_context_schema")
Row = Mapping[str, Any]


def import_contexts(sync: Sync, files: Files) -> None:
    """Imports config contexts first, then the local context data of objects."""
    registry = sync.uow.registry
    contexts, schemas = OwnedObjectSync(sync, "extras.configcontext", ["name"]), _schemas(sync)
    endpoints = {
        endpoint.resource.name.replace("-", "_"): endpoint
        for endpoint in registry.endpoints.values()
        if LOCAL in endpoint.table.c
    }
    local: dict[Endpoint, list[OwnedDocument]] = {endpoint: [] for endpoint in endpoints.values()}
    for document in documents(files, contexts.refuse):
        if len(document.folders) == 1 and document.folders[0] in endpoints:
            local[endpoints[document.folders[0]]].append(document)
            continue
        try:
            contexts.add(document.path, _context(registry, document, schemas))
        except FileFault as error:
            contexts.refuse(document.path, str(error))
    contexts.write()
    for endpoint, of_model in local.items():
        _LocalContextSync(sync, endpoint, schemas, keep=contexts.has_refused).write(of_model)


def _schemas(sync: Sync) -> dict[str, str]:
    """Returns the ids of schemas by name. The repository's own schema takes precedence, then one without an owner."""
    table, repository = table_of(ConfigContextSchema), sync.repository["id"]
    rows = list(sync.uow.execute(sa.select(table.c.name, table.c.id, table.c.owner_object_id)))
    rows.sort(key=lambda row: (row.owner_object_id == repository, row.owner_object_id is None, str(row.id)))
    return {row.name: str(row.id) for row in rows}


def _schema(document: OwnedDocument, schemas: Mapping[str, str]) -> str | None:
    """Returns the id of the schema that a file names, or ``None`` when it names none.

    :raises Fault: for an unknown name
    """
    values = (document.metadata[name] for name in _SCHEMA_NAMES if document.metadata.get(name) is not None)
    reference = next(values, None)
    name = reference.get("name") if isinstance(reference, dict) else reference
    if name is None:
        return None
    if str(name) not in schemas:
        raise FileFault(f"there is no config context schema called {name}")
    return schemas[str(name)]


def _context(registry: Registry, document: OwnedDocument, schemas: Mapping[str, str]) -> dict[str, Any]:
    """Returns the body of the config context of a file.

    :raises Fault: for unknown members, scopes and schemas
    """
    endpoint = registry["extras.configcontext"]
    scopes = {name: field for name, field in endpoint.writable.items() if isinstance(field, fields.ToMany)}
    reject_unknown_members(document, ("name", *_DEFAULTS, *_SCHEMA_NAMES, *scopes))
    items: dict[str, Any] = {name: document.metadata.get(name, []) for name in scopes}
    if document.folders:
        scope = document.folders[0]
        if len(document.folders) > 1 or scope not in scopes:
            folders = "/".join(document.folders)
            raise FileFault(f"nothing is limited by {folders}: the folders are {', '.join(sorted(scopes))}")
        items[scope] = [*items[scope], document.stem]
    members = {name: value for name, value in document.metadata.items() if name in _DEFAULTS}
    return {
        "name": str(document.metadata.get("name") or document.stem),
        **_DEFAULTS,
        **members,
        **{name: _scope_references(scopes[name], values) for name, values in items.items()},
        "schema": _schema(document, schemas),
        "data": document.data,
    }


def _scope_references(field: fields.ToMany, values: Any) -> list[Any]:
    """Returns the objects of a scope in the form of a request: by attributes, by id, or by natural key.

    :raises Fault: when ``values`` is not a list of references
    """
    if not isinstance(values, list):
        raise FileFault(f"{METADATA}: {field.name} is not a list")
    return [_reference(field, item) for item in values]


def _reference(field: fields.ToMany, item: Any) -> Any:
    target = field.target
    assert target is not None
    if field.by is not None:
        value = item.get(field.by) if isinstance(item, dict) else item
        if not isinstance(value, str):
            raise FileFault(f"{METADATA}: {field.name} are named by {field.by}")
        return value
    if isinstance(item, dict):
        return item
    return str(item) if _is_id(item) else {target.natural_sort: str(item)}


def _is_id(item: Any) -> bool:
    try:
        return bool(uuid.UUID(str(item)))
    except ValueError:
        return False


class _LocalContextSync:
    """Sync of the local context data of one model's objects. With ``keep`` no data is removed."""

    def __init__(self, sync: Sync, endpoint: Endpoint, schemas: Mapping[str, str], *, keep: bool) -> None:
        self.sync, self.endpoint, self.schemas, self.keep = sync, endpoint, schemas, keep
        self.uow, self.table = sync.uow, endpoint.table

    def write(self, documents: Sequence[OwnedDocument]) -> None:
        """Sets the data of the objects that files are named after. Removes data whose file is gone."""
        owned = self._owned_ids()
        rows = self._locked_rows({document.stem for document in documents}, owned)
        keys_by_name: dict[str, list[Any]] = {}
        for key, row in rows.items():
            keys_by_name.setdefault(row["name"], []).append(key)
        bodies: dict[Any, tuple[str, dict[str, Any]]] = {}
        for document in documents:
            try:
                key = self._object(document, keys_by_name, rows, owned)
                if key in bodies:
                    raise FileFault(f"{bodies[key][0]} is for the same object")
                bodies[key] = document.path, {LOCAL: document.data, SCHEMA: _schema(document, self.schemas)}
            except FileFault as error:
                self.keep = True
                self.sync.report.refuse(document.path, str(error))
        self._set(bodies, rows, owned)
        if not self.keep:
            self._remove(list(owned - bodies.keys()), rows)

    def _owned_ids(self) -> set[Any]:
        """Returns the ids of the model's objects whose data comes from the repository."""
        columns = local_contexts.c
        is_owned = columns.object_type == self.endpoint.label, columns.repository_id == self.sync.repository["id"]
        return set(self.uow.execute(sa.select(columns.object_id).where(*is_owned)).scalars())

    def _locked_rows(self, names: Iterable[str], keys: Iterable[Any]) -> dict[Any, dict[str, Any]]:
        """Selects and locks the rows of objects by name or id."""
        table = self.table
        matches = sa.or_(in_parameter(table.c.name, "names"), in_parameter(table.c.id))
        statement = sa.select(table).where(matches).with_for_update()
        rows = self.uow.execute(statement, {"names": list(names), "keys": list(keys)}).mappings()
        return {row["id"]: dict(row) for row in rows}

    def _object(
        self, document: OwnedDocument, keys_by_name: Mapping[str, list[Any]], rows: Mapping[Any, Any], owned: set[Any]
    ) -> Any:
        """Returns the id of the object that a file is named after.

        :raises Fault: when there is not exactly one such object, or its data comes from elsewhere
        """
        reject_unknown_members(document, _SCHEMA_NAMES)
        keys = keys_by_name.get(document.stem, [])
        if len(keys) != 1:
            raise FileFault(f"there are {len(keys) or 'no'} {self.endpoint.plural} called {document.stem}")
        if not isinstance(document.data, dict):
            raise FileFault(NOT_AN_OBJECT)
        if rows[keys[0]][LOCAL] is not None and keys[0] not in owned:
            raise FileFault(ALREADY_SET.format(document.stem))
        return keys[0]

    def _set(
        self, bodies: Mapping[Any, tuple[str, Mapping[str, Any]]], rows: Mapping[Any, Row], owned: set[Any]
    ) -> None:
        """Writes changed data object by object, and records the repository as its source."""
        changed = find_differing(self.uow, self.endpoint, {key: (rows[key], body) for key, (_, body) in bodies.items()})
        for key, (path, body) in bodies.items():
            if key in changed:
                reason = self.sync.attempt(functools.partial(self._update, key, body))
                if reason is not None:
                    self.sync.report.refuse(path, reason)
                    continue
            outcome = UPDATED if key in changed else UNCHANGED
            self.sync.report.record(self.endpoint.label, rows[key]["name"], outcome)
            if key not in owned:
                self._record_source(key)

    def _record_source(self, key: Any) -> None:
        reference = {"object_type": self.endpoint.label, "object_id": key}
        # Another repository may still be recorded, whose data a user has removed.
        self.uow.execute(sa.delete(local_contexts).filter_by(**reference))
        self.uow.execute(sa.insert(local_contexts).values(**reference, repository_id=self.sync.repository["id"]))

    def _update(self, key: Any, body: Mapping[str, Any]) -> None:
        save.update(self.uow, self.endpoint, [{**body, "id": str(key)}], partial=True)

    def _remove(self, keys: Sequence[Any], rows: Mapping[Any, Row]) -> None:
        """Removes data that came from the repository. Objects without a row were deleted meanwhile."""
        if not keys:
            return
        existing = [key for key in keys if key in rows]
        bodies = [{"id": str(key), LOCAL: None, SCHEMA: None} for key in existing]
        save.update(self.uow, self.endpoint, bodies, partial=True)
        is_removed = in_parameter(local_contexts.c.object_id)
        of_model = local_contexts.c.object_type == self.endpoint.label
        self.uow.execute(sa.delete(local_contexts).where(of_model, is_removed), {"keys": keys})
        for key in existing:
            self.sync.report.record(self.endpoint.label, rows[key]["name"], DELETED)
