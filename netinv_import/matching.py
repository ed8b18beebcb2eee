"""Objects of a dump and their equals here: which they are, and in which fields they differ."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.fields import Choice, Status
from netinv_core.fields.images import MEDIA
from netinv_core.sql.plans import plan_of
from netinv_core.storage.files import Upload
from netinv_core.write.draft import Draft
from netinv_import.mapping import Body, DumpMapping

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


class Matching:
    """Finds the objects here of a mapping, and compares request bodies with them."""

    def __init__(self, uow: UnitOfWork, mapping: DumpMapping) -> None:
        self.uow = uow
        self.mapping = mapping

    def representations(self, label: str, keys: Mapping[Any, Any]) -> dict[Any, Body]:
        """Returns the representations of the objects that exist, by key in the dump."""
        keys_by_id = {self.mapping.ids[label, key]: key for key in keys}
        rows = plan_of(self.mapping.endpoint(label)).fetch(self.uow, list(keys_by_id))
        return {keys_by_id[id_]: representation for id_, representation in rows}

    def recognise(self, label: str, bodies: Mapping[Any, Body]) -> None:
        """Sets the ids of objects that exist here under another id, recognised by their identifying columns."""
        source, endpoint = self.mapping.sources[label], self.mapping.endpoint(label)
        table, natural = endpoint.table, endpoint.natural_sort
        names = source.by or ((natural,) if natural in table.c and table.c[natural].unique else ())
        if not names:
            return
        keys_by_values: dict[tuple[Any, ...], Any] = {}
        for key, body in bodies.items():
            values = _columns(endpoint, body)
            if values.get(names[-1]) not in (None, ""):
                keys_by_values.setdefault(tuple(values.get(name) for name in names), key)
        if not keys_by_values:
            return
        columns = [table.c[name] for name in names]
        conditions = [_in(column, {values[n] for values in keys_by_values}) for n, column in enumerate(columns)]
        ids_by_values: dict[tuple[Any, ...], list[Any]] = {}
        for id_, *row in self.uow.execute(sa.select(table.c.id, *columns).where(*conditions)):
            ids_by_values.setdefault(tuple(row), []).append(id_)
        taken = {self.mapping.ids[label, key] for key in self.mapping.dump.objects[label]}
        for row_values, ids in ids_by_values.items():
            if row_values in keys_by_values and len(ids) == 1 and ids[0] not in taken:
                self.mapping.ids[label, keys_by_values[row_values]] = ids[0]

    def differences(self, label: str, representation: Body, body: Body) -> Body:
        """Returns the fields of a body that differ from a representation.

        Of a field that merges values (custom fields), only the members in the body count.
        """
        fields, differences = self.mapping.endpoint(label).writable, {}
        adds = self.mapping.sources[label].adds
        for name, value in body.items():
            current = representation.get(name)
            if name in adds:
                value = {"add": [item for item in value if item not in (current or [])]}
                if value["add"]:
                    differences[name] = value
                continue
            if fields[name].merges and isinstance(current, dict) and isinstance(value, dict):
                current = {member: current.get(member) for member in value}
            if current is None and value == "" and isinstance(fields[name], Choice):
                continue  # no choice is null here
            if not self._is_equal(current, value):
                differences[name] = value
        return differences

    def _is_equal(self, current: Any, value: Any) -> bool:
        """True when a value of a body equals the current one; files are compared by content."""
        if not isinstance(value, Upload):
            return bool(plain(current) == plain(value))
        try:
            with self.uow.files.open(str(current).partition(MEDIA)[2]) as stored_file:
                return stored_file.read() == value.content
        except FileNotFoundError:
            return False


def _in(column: Any, values: set[Any]) -> Any:
    """The condition that a column has one of the values; null is one of them where it occurs."""
    condition = column.in_(values - {None})
    return sa.or_(condition, column.is_(None)) if None in values else condition


def _columns(endpoint: Endpoint, body: Body) -> dict[str, Any]:
    """Returns the columns that a body sets, foreign keys as ids."""
    draft = Draft(endpoint, body)
    draft.parse(partial=True)
    foreign_keys = [(field.attribute, raw) for field, raw in draft.references if not isinstance(field, Status)]
    return {**draft.values, **{attribute: uuid.UUID(raw) for attribute, raw in foreign_keys}}


def plain(value: Any) -> Any:
    """Normalises a value of a representation or of a body.

    Choices and references become what identifies them, lists are sorted, other values become text.
    """
    if isinstance(value, dict):
        return plain(value["id"]) if "id" in value else plain(value["value"]) if "value" in value else value
    if isinstance(value, list):
        return sorted((plain(item) for item in value), key=str)
    return value if value is None or isinstance(value, bool) else str(value)
