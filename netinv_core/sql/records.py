"""Readers of dictionaries: from a row that a plan has selected to a representation."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.driver.results import Row

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan, RowSet

FEWEST_COLUMNS = 3  # for which picking them together is faster


def record(
    plan: ReadPlan, place: JoinedTable, fields: Iterable[Field], *, brief: bool, without: Collection[str]
) -> Reader:
    """Returns a reader of a dictionary of ``fields`` at ``place``."""
    readers = []
    for field in fields:
        inner = {name.removeprefix(f"{field.name}.") for name in without if name.startswith(f"{field.name}.")}
        if inner:
            readers.append((field.name, field.sparse_reader(plan, place, inner)))
        elif not field.write_only:
            readers.append((field.name, field.brief_reader(plan, place) if brief else plan.reader_of(place, field)))
    return _dictionary(plan, readers)


def _dictionary(plan: ReadPlan, readers: Sequence[tuple[str, Reader]]) -> Reader:
    """Returns a reader of a dictionary. Values of columns are picked from the row together, then the others are set."""
    positions = [plan.position_of(reader) for _, reader in readers]
    computed = [item for item, position in zip(readers, positions, strict=True) if position is None]
    if len(readers) - len(computed) < FEWEST_COLUMNS:
        return lambda row, page: {name: reader(row, page) for name, reader in readers}
    names = [name for name, _ in readers]
    pick = operator.itemgetter(*(position or 0 for position in positions))

    def read(row: Row, page: RowSet) -> dict[str, Any]:
        item = dict(zip(names, pick(row), strict=True))
        for name, reader in computed:
            item[name] = reader(row, page)
        return item

    return read


def read_null(row: Row, page: RowSet) -> None:
    """Reader of null."""
    return None


def nested_fields(endpoint: Endpoint, field_names: Sequence[str] = ()) -> list[Field]:
    """The fields of the nested representation: the brief form, or ``display, id, url`` and those of ``field_names``."""
    if field_names:
        return [endpoint.fields[name] for name in ("display", "id", "url", *field_names)]
    return [field for field in endpoint.brief if field.nested != "absent"]


def record_nested(
    plan: ReadPlan,
    place: JoinedTable,
    field_names: Sequence[str] = (),
    *,
    listed: bool = False,
    beside: Sequence[Field] = (),
    without: Collection[str] = (),
) -> Reader:
    """Returns a reader of the nested representation of the object at ``place``, followed by the fields ``beside``;
    ``field_names`` names its fields, by default those of the brief form, ``without`` those to leave out.
    """
    readers = [
        (field.name, read_null if field.nested == "null" and not listed else field.brief_reader(plan, place))
        for field in [*nested_fields(place.endpoint, field_names), *beside]
        if field.name not in without
    ]
    return _dictionary(plan, readers)
