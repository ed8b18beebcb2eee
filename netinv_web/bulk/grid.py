"""Grid: the editable columns of a list's rows as one form, a preview of every change, and their application at once.

Each row is a form of its object (:class:`netinv_web.forms.form.Submission`), so values, errors and conflicts are those
of forms. The members of a row begin with the object's id: ``<id>:status``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid
from netinv_core.fields import cell_items
from netinv_core.fields.cells import join_items
from netinv_core.http.multipart import MAX_MEMBERS
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_core.read.names import display_of
from netinv_core.sql.plans import plan_of
from netinv_core.write import trees
from netinv_web.bulk.editing import CONFLICT, INVALID, carried_out, empty_selection_page, show_changes
from netinv_web.bulk.preview import names_of, preview_updates
from netinv_web.bulk.selection import ALL, APPLY, PREVIEW, ROW, Members, Selection, members_of, selected, step_of
from netinv_web.forms import form as forms
from netinv_web.forms import merging
from netinv_web.forms.control_values import member, reference_of
from netinv_web.forms.controls import Control
from netinv_web.forms.form import Form, Submission, last_text
from netinv_web.lists.column_choice import chosen_columns
from netinv_web.lists.columns import MAX_COLUMNS, columns_of
from netinv_web.lists.editing import control_names
from netinv_web.lists.list_query import query_of
from netinv_web.lists.listing import matches_of, page_of
from netinv_web.names import context_of
from netinv_web.pages import page
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_web:templates/grid.jinja2"
MAX_ROWS = 100
# Members for each cell: its value, and the text beside a picker; and for each row its version.
MAX_GRID_MEMBERS = MAX_ROWS * (2 * MAX_COLUMNS + 3) + MAX_MEMBERS
KINDS = frozenset({"text", "textarea", "number", "checkbox", "select", "picker", "date", "datetime", "list"})
ALWAYS = frozenset({"id", "display", "last_updated"})  # fields of a row beside those of the columns
_MEMBER = re.compile(r"(_[a-z]+_|)([^:]+):(.+)")


@dataclasses.dataclass
class GridRow:
    """A row: the object's name and path, its form, whose controls are in the order of the columns, and the same
    controls under the names that they have in the grid.
    """

    key: Any
    name: str
    path: str
    submission: Submission
    base: merging.Baseline
    controls: Sequence[Control] = ()

    @property
    def form(self) -> Form:
        """The form of the object."""
        return self.submission.form

    def complete(self) -> None:
        """Sets the controls of the grid from those of the form."""
        self.controls = [_in_grid(self, control) for control in self.form.controls]


def show(request: Request) -> Response:
    """The grid of the list's page, or of selected rows; the preview of its changes, and their application."""
    endpoint, uow = request.context.endpoint, request.uow
    members, left_out = members_of(request, MAX_GRID_MEMBERS), 0
    if request.method != "POST":
        members, left_out = _rows_of_page(request, endpoint)
    selection = selected(request, endpoint, members, "change")
    selection = dataclasses.replace(selection, maximum=min(selection.maximum, MAX_ROWS), limited_by="")
    if not selection.keys or selection.too_many:
        return empty_selection_page(request, endpoint, selection, "edit")
    template, step = controls_of(request, endpoint), step_of(members)
    if step == APPLY:
        trees.lock_whole(uow, [endpoint])
        listing.rows_for_change(uow, endpoint, selection.keys, "change")  # nobody changes them before they are written
    rows = _rows(request, endpoint, selection, members, template)
    if step not in (PREVIEW, APPLY):
        return _show(request, endpoint, selection, rows, left_out=left_out)
    if [row for row in rows if merging.conflicts_of(row.submission, row.base)]:
        for row in rows:
            if row.base.changes:
                merging.show_current(row.submission, row.base)
        return _show(request, endpoint, selection, rows, status=CONFLICT)
    return _write(request, endpoint, selection, rows, members)


def _write(
    request: Request, endpoint: Endpoint, selection: Selection, rows: Sequence[GridRow], members: Members
) -> Response:
    """Previews the changes or applies them; the grid again with the errors at their cells."""
    uow = request.uow
    bodies = _bodies(rows)
    faulty = any(row.submission.errors for row in rows)
    if faulty or not bodies:
        errors = [] if faulty else ["Nothing is to be changed."]
        return _show(request, endpoint, selection, rows, errors, status=INVALID)
    step = step_of(members)
    if (done := carried_out(request, endpoint, selection, step, bodies, "changed", len(bodies))) is not None:
        return done
    preview = preview_updates(uow, endpoint, bodies)
    if preview.refused:
        request.tm.doom()
        for row in rows:
            if row.key in preview.refused:
                forms.add_errors(row.form, preview.refused[row.key])
        return _show(request, endpoint, selection, rows, [], status=INVALID)
    changed = {str(key) for key in bodies}
    kept = {name: values for name, values in members.items() if (_split(name) or ("", "", ""))[1] in {"", *changed}}
    return show_changes(request, endpoint, selection, preview, kept, "Edit")


def _rows_of_page(request: Request, endpoint: Endpoint) -> tuple[Members, int]:
    """The rows of the list's page as a selection; and how many of its rows are more than the grid takes."""
    named = [text for name in (ROW, ALL) for text in request.uow.query.get(name, ())]
    if named:
        return {}, 0
    number, size = page_of(request)
    window = Slice(min(size, MAX_ROWS), (number - 1) * size)
    matches = matches_of(request.uow, endpoint, query_of(request), window)
    on_page = min(size, matches.count - window.offset)
    return {ROW: [str(key) for key in matches.keys]}, max(0, on_page - len(matches.keys))


def controls_of(request: Request, endpoint: Endpoint) -> list[Control]:
    """The controls of the list's columns that the grid has inputs for, in their order and without values."""
    columns = columns_of(request.uow, endpoint, chosen_columns(request, endpoint))
    names = list(dict.fromkeys(control_names(endpoint, columns).values()))
    controls = {control.name: control for control in forms.empty(request.uow, endpoint, names).controls}
    return [
        controls[name]
        for name in names
        if name in controls
        and controls[name].kind in KINDS
        and (not controls[name].multiple or _has_names(controls[name]))
    ]


def _has_names(control: Control) -> bool:
    """True for a picker of several objects, such as tags, whose cell holds their names."""
    return control.kind == "picker" and control.multiple and control.target is not None


def _names_of(control: Control, value: Any) -> Control:
    """The control of a cell with the names of several objects, separated by commas; ``value`` are those shown.

    Shown names stand for the objects that have them; others are looked up like those that are typed beside a picker.
    """
    assert control.target is not None
    target, key = control.target, control.key
    items = value if isinstance(value, list) else []
    shown = {_name(item): item[key] if isinstance(item, Mapping) else item for item in items}

    def read(texts: Sequence[Any]) -> list[Any]:
        named = cell_items(texts[-1] if texts else "")
        return [shown[text] if text in shown else reference_of(target, str(text), key) for text in named]

    def show(current: Any) -> list[str]:
        return [join_items([_name(item) for item in current])]

    return dataclasses.replace(control, kind="text", multiple=False, target=None, read=read, show=show)


def _name(item: Any) -> str:
    return str(item.get("display") or item.get("id")) if isinstance(item, Mapping) else str(item)


def _split(name: str) -> tuple[str, str, str] | None:
    """Prefix, id and control of a member's name; ``None`` for a member of no row."""
    match = _MEMBER.fullmatch(name)
    return (match[1], match[2], match[3]) if match else None


def _by_row(members: Members, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The members of each row, by the id as text, as its form would send them."""
    by_row: dict[str, dict[str, Any]] = {}
    for name, values in members.items():
        parts = _split(name)
        if parts is not None:
            row = by_row.setdefault(parts[1], {forms.CONTROLS: [",".join(names)]})
            row[f"{parts[0]}{parts[2]}"] = values
    return by_row


def _rows(
    request: Request, endpoint: Endpoint, selection: Selection, members: Members, template: Sequence[Control]
) -> list[GridRow]:
    """The rows in the order of the selection; three statements however many. Their names are those of the list."""
    names = [control.name for control in template]
    uow, sent = request.uow, _by_row(members, names)
    fields = ALWAYS | {name.partition(".")[0] for name in names}
    items = dict(plan_of(endpoint, "full", frozenset(endpoint.fields.keys() - fields)).fetch(uow, selection.keys))
    versions = {
        key: (items[key], last_text(sent.get(str(key), {}), forms.VERSION)) for key in selection.keys if key in items
    }
    in_context = not context_of(endpoint) & fields
    named = names_of(uow, endpoint, list(items)) if in_context else {}
    rows = []
    for key, base in merging.baselines(uow, endpoint, versions).items():
        item = items[key]
        controls = [
            _names_of(control, member(base.original, control.path))
            if _has_names(control)
            else dataclasses.replace(control, parameters=control.parameters_of(str(key)))
            for control in template
        ]
        form = Form([("", controls)])
        submission = Submission(request, endpoint, base.original, sent.get(str(key), {}), form=form)
        form.version = form.version or forms.version_of(item)
        name = named.get(key) or display_of(item)
        rows.append(GridRow(key, name, object_path(endpoint, key), submission, base))
    return rows


def _bodies(rows: Sequence[GridRow]) -> dict[Any, dict[str, Any]]:
    """The changes of each object, by id. Errors of texts that cannot be converted are put to their controls."""
    bodies: dict[Any, dict[str, Any]] = {}
    for row in rows:
        try:
            body = row.submission.body(new=False)
        except Invalid as error:
            forms.add_errors(row.form, error.body)
            continue
        if body:
            bodies[row.key] = body
    return bodies


def _show(
    request: Request,
    endpoint: Endpoint,
    selection: Selection,
    rows: Sequence[GridRow],
    errors: Sequence[str] = (),
    *,
    left_out: int = 0,
    status: int = 200,
) -> Response:
    everything = Form([("", [control for row in rows for control in row.form.controls])])
    forms.complete(request.uow, everything, offered=False)  # each row would repeat what pickers offer
    for row in rows:
        row.complete()
    values = {
        "endpoint": endpoint,
        "list_path": page_path(endpoint),
        "selection": selection,
        "rows": rows,
        "controls": [control for row in rows for control in row.controls],
        "labels": [control.label for control in rows[0].form.controls],
        "errors": errors,
        "left_out": left_out,
    }
    return page(request, TEMPLATE, values, status)


def _in_grid(row: GridRow, control: Control) -> Control:
    """The control under its name in the grid, labelled with the name of the object."""
    label = f"{control.label} of {row.name}"
    attributes = {name: value for name, value in control.attributes.items() if name != "data-slug-of"}
    return dataclasses.replace(
        control,
        name=f"{row.key}:{control.name}",
        label=label,
        help="",
        may_add=False,
        attributes={**attributes, "aria-label": label},
        lines=1,
        depends_on={f"{row.key}:{name}": parameter for name, parameter in control.depends_on.items()},
    )
