"""Clones: the fields that identify one object, which a copy of it does not take over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.models.columns import column_info
from netinv_core.registry_cache import cached_in_registry

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


@cached_in_registry
def fields_left_empty(endpoint: Endpoint) -> frozenset[str]:
    """The fields that a clone leaves empty.

    These are the unique columns, and of each unique set the columns without a foreign key: two interfaces of one device
    differ in their names. A choice stays when another column of its set is left empty: two devices of a rack have one
    face and two positions. Besides, what the database does not know to be unique: what the object is displayed by, and
    encrypted values and files, which cannot be copied.
    """
    table = endpoint.table
    by_column = {field.attribute: field for field in endpoint.fields.values()}
    columns = {name for name, column in table.c.items() if column.unique}
    sets = [
        [column.key for column in item.columns] for item in table.constraints if isinstance(item, sa.UniqueConstraint)
    ]
    sets += [[column.key for column in index.columns] for index in table.indexes if index.unique]
    for names in sets:
        own = [name for name in names if column_info(table.c[name]).foreign_key is None]
        free = [name for name in own if not isinstance(by_column.get(name), fields.Choice)]
        columns.update(free or own or names)
    columns |= _copied_from(endpoint, columns)
    displayed = {path for path in endpoint.resource.display[1:] if path in endpoint.fields}
    return frozenset(
        name
        for name, field in endpoint.fields.items()
        if field.attribute in columns or name in displayed or field.confidential or isinstance(field, fields.Image)
    )


def _copied_from(endpoint: Endpoint, columns: set[str]) -> set[str]:
    """The columns from which columns of a unique set are derived: sort keys, slugs, and copies."""
    infos = [column_info(endpoint.table.c[name]) for name in columns]
    return {source for info in infos for source in (info.sort_key_of, info.slug_of) if source}
