"""Rows of lists: cells that one plan reads, and links to what a user may do with an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from netinv_core.sql.plan import Row
from netinv_core.sql.plans import custom_plan
from netinv_web.cells import CellReader, cell, guarded
from netinv_web.extensions import Tab, may_further
from netinv_web.lists.columns import Column
from netinv_web.markup import EMPTY, YES, text_markup, without_controls
from netinv_web.menu import may
from netinv_web.names import context_of, row_name
from netinv_web.objects.tab_links import own_tabs
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, ReadPlan, RowSet
    from netinv_core.uow import UnitOfWork

HISTORY_TAB = "changelog"
KEY = "{key}"  # in the addresses of links of rows, where the id of the row's object belongs


class ListRow(NamedTuple):
    """An object in a list: its id, the path of its page, its name, and its cells, each after its start tag.

    ``depth`` is the number of objects that it is nested in, ``mark`` that of :mod:`netinv_web.marks`.
    """

    key: str
    path: str
    name: str
    cells: Sequence[tuple[Markup, Markup]]
    depth: int = 0
    mark: str = ""


def cell_elements(cells: Sequence[tuple[Markup, Markup]]) -> Markup:
    """Filter ``cells``: the ``td`` elements of a row. As one text, lists with many columns take half of the time."""
    parts: list[str] = []
    for tag, markup in cells:
        parts += (tag, markup if type(markup) is Markup else escape(markup), "</td>")
    return Markup("".join(parts))  # noqa: S704 - each part is markup, or escaped


def rows_of(
    uow: UnitOfWork, endpoint: Endpoint, columns: Sequence[Column], keys: Sequence[Any], left_out: Sequence[str] = ()
) -> list[ListRow]:
    """The rows of a list, in the order of the keys.

    ``left_out`` names references that have the same value in every row, which another part of the page shows.
    """
    shown = (*left_out, *[column.name for column in columns])

    def build(plan: ReadPlan, place: JoinedTable) -> Any:
        display, index = row_name(plan, place, shown), plan.column(place, "id")
        readers = [_cell(plan, place, column) for column in columns]
        tags = [column.start_tag for column in columns]

        def read_row(row: Row, page: RowSet) -> ListRow:
            key = str(row[index])
            cells = list(zip(tags, [read(row, page) for read in readers], strict=True))
            name = without_controls(str(display(row, page) or key))
            return ListRow(key, object_path(endpoint, key), name, cells)

        return read_row

    names = [column.name for column in columns]
    plan = custom_plan(endpoint, ("row", bool(context_of(endpoint) & set(shown)), *names), build)
    by_key = dict(plan.fetch(uow, keys, bounded=True))
    return [by_key[key] for key in keys if key in by_key]


def nested_rows(rows: Sequence[ListRow], depths: Mapping[Any, int]) -> Sequence[ListRow]:
    """The rows with their depths, given by id."""
    deep = {str(key): depth for key, depth in depths.items() if depth}
    return [row._replace(depth=deep.get(row.key, 0)) for row in rows] if deep else rows


def without_uniform_columns(columns: Sequence[Column], rows: Sequence[ListRow]) -> tuple[list[Column], list[ListRow]]:
    """The columns that tell rows apart, and the rows without the others: columns without any value, and those that say
    *Yes* in each of several rows.
    """
    kept = [number for number in range(len(columns)) if _uniform(rows, number) is None]
    if len(kept) == len(columns):
        return list(columns), list(rows)
    shown = [row._replace(cells=[row.cells[number] for number in kept]) for row in rows]
    return [columns[number] for number in kept], shown


def uniform_values(columns: Sequence[Column], rows: Sequence[ListRow]) -> list[tuple[str, str]]:
    """The labels of the columns that :func:`without_uniform_columns` leaves out, each with its text in all rows."""
    found = ((column.label, _uniform(rows, number)) for number, column in enumerate(columns))
    return [(label, "" if cell == EMPTY else cell.striptags()) for label, cell in found if cell is not None]


def _uniform(rows: Sequence[ListRow], number: int) -> Markup | None:
    """The cell that a column has in all rows, if that says nothing about the single row."""
    first = rows[0].cells[number][1]
    if first != EMPTY and (len(rows) == 1 or first != YES):
        return None
    return first if all(row.cells[number][1] == first for row in rows) else None


def _cell(plan: ReadPlan, place: JoinedTable, column: Column) -> CellReader:
    """The reader of a column's cells."""
    if (extra := column.extra) is not None:
        return guarded(plan.registry, extra.name, lambda: extra.cell(plan, place))
    assert column.field is not None
    if not column.member:
        return cell(plan, place, column.field)
    read, member = plan.reader_of(place, column.field), column.member
    return lambda row, page: text_markup((read(row, page) or {}).get(member))


def row_links(uow: UnitOfWork, endpoint: Endpoint) -> list[tuple[str, str]]:
    """Titles and paths of the links of each row: edit, clone, history, delete, as far as the user may. :data:`KEY`
    stands for the id.
    """
    writes, links = endpoint.resource.writes, []
    if "change" in writes and may(uow, endpoint, "change"):
        links.append(("Edit", f"{object_path(endpoint, KEY)}edit/"))
    if "add" in writes and may(uow, endpoint, "add"):
        links.append(("Clone", f"{object_path(endpoint, 'add')}?_clone={KEY}"))
    history = [tab for tab in own_tabs(endpoint) if tab.name == HISTORY_TAB and isinstance(tab, Tab)]
    if any(may_further(uow, tab.permission) for tab in history):
        links.append(("Change log", f"{object_path(endpoint, KEY)}{HISTORY_TAB}/"))
    if "delete" in writes and may(uow, endpoint, "delete"):
        links.append(("Delete", f"{object_path(endpoint, KEY)}delete/"))
    return links
