"""Rows of lists: cells that one plan reads, links to what a user may do with an object, and the markup of both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from markupsafe import Markup

from netinv_core.http.mount import url_of
from netinv_core.read.plan import Row
from netinv_core.read.plans import custom_plan
from netinv_core.types import Endpoint, JoinedTable, Plan, RowSet, UnitOfWork
from netinv_web.cells import CellReader, cell, name_cell, text_markup
from netinv_web.extensions import Tab, may_further
from netinv_web.lists.columns import Column
from netinv_web.menu import may
from netinv_web.objects.details import own_tabs
from netinv_web.paths import object_path

HISTORY_TAB = "changelog"
RowLinks = Callable[[Any], Markup]


def rows_of(
    uow: UnitOfWork, endpoint: Endpoint, columns: Sequence[Column], keys: Sequence[Any]
) -> list[tuple[Any, Markup]]:
    """The rows of a list: the id of each object, and the markup of its cells."""

    def build(plan: Plan, place: JoinedTable) -> Any:
        name = name_cell(plan, place)
        cells = [(_cell(plan, place, column), column) for column in columns]
        parts = [(read, '<td class="number">' if column.numeric else "<td>") for read, column in cells]

        def read_row(row: Row, page: RowSet) -> Markup:
            pieces: list[str] = ['<th scope="row">', name(row, page), "</th>"]
            for read, opening in parts:
                pieces += (opening, read(row, page), "</td>")
            return Markup("".join(pieces))

        return read_row

    plan = custom_plan(endpoint, ("row", *[column.name for column in columns]), build)
    by_key = dict(plan.fetch(uow, keys))
    return [(key, by_key[key]) for key in keys if key in by_key]


def _cell(plan: Plan, place: JoinedTable, column: Column) -> CellReader:
    """The reader of a column's cells."""
    if not column.member:
        return cell(plan, place, column.field)
    read, member = plan.reader_of(place, column.field), column.member
    return lambda row, page: text_markup((read(row, page) or {}).get(member))


def row_links(uow: UnitOfWork, endpoint: Endpoint) -> RowLinks | None:
    """The function from an id to the links of its row: edit, clone, history, delete, as far as the user may."""
    writes = endpoint.resource.writes
    base, links = url_of(object_path(endpoint, "")), []
    if "change" in writes and may(uow, endpoint, "change"):
        links.append(("Edit", "{base}{key}/edit/"))
    if "add" in writes and may(uow, endpoint, "add"):
        links.append(("Clone", "{base}add/?_clone={key}"))
    history = [tab for tab in own_tabs(endpoint) if tab.name == HISTORY_TAB and isinstance(tab, Tab)]
    if any(may_further(uow, tab.permission) for tab in history):
        links.append(("History", f"{{base}}{{key}}/{HISTORY_TAB}/"))
    if "delete" in writes and may(uow, endpoint, "delete"):
        links.append(("Delete", "{base}{key}/delete/"))
    if not links:
        return None
    template = "".join(f'<a href="{path}">{title}</a>' for title, path in links).replace("{base}", base[:-1])
    parts = template.split("{key}")
    return lambda key: Markup(str(key).join(parts))


def table_rows(rows: Iterable[tuple[Any, Markup]], selectable: bool, links: RowLinks | None) -> Markup:
    """Template function: the elements ``tr`` of a list. In a template their loop takes three times as long."""
    pieces: list[str] = []
    for number, (key, cells) in enumerate(rows, 1):
        pieces.append(f'<tr data-key="{key}">')
        if selectable:
            label = f'aria-label="Select row {number}"'
            pieces.append(
                f'<td class="select"><input type="checkbox" name="pk" value="{key}" form="selection" {label}></td>'
            )
        pieces.append(cells)
        if links is not None:
            pieces += ('<td class="row-links"><span>', links(key), "</span></td>")
        pieces.append("</tr>\n")
    return Markup("".join(pieces))
