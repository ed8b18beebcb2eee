"""Bulk rename: replaces a text, or what a regular expression matches, in the names of many objects."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import patterns
from netinv_core.errors import NotFound
from netinv_core.fields import Choice, Value
from netinv_core.labels import label_of
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_web.bulk.editing import INVALID, carried_out, empty_selection_page, named_objects, show_changes
from netinv_web.bulk.name_collisions import holders_of
from netinv_web.bulk.preview import MAX_LINES, MAX_PREVIEWED, BulkPreview, ShownDifference, preview_updates
from netinv_web.bulk.selection import APPLY, PREVIEW, Members, Selection, members_of, selected, step_of
from netinv_web.forms.controls import Control
from netinv_web.forms.form import last_text
from netinv_web.pages import page
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

RENAME = "netinv_web:templates/bulk_rename.jinja2"
NAME = "name"  # field
FIND, REPLACEMENT, IS_PATTERN = "find", "replace", "pattern"  # members of the form


def has_names(endpoint: Endpoint) -> bool:
    """True for a resource whose objects have names that can be changed."""
    field: Field | None = endpoint.writable.get(NAME)
    is_text = isinstance(field, Value) and not isinstance(field, Choice) and field.python_type is str
    return is_text and "change" in endpoint.resource.writes


def rename(request: Request) -> Response:
    """The form for new names, the preview of each, and their application.

    :raises NotFound: for a resource without names
    """
    endpoint, uow = request.context.endpoint, request.uow
    if not has_names(endpoint):
        raise NotFound()
    members = members_of(request)
    selection = selected(request, endpoint, members, "change")
    if not selection.keys or selection.too_many:
        return empty_selection_page(request, endpoint, selection, "rename")
    controls, step = _controls(members), step_of(members)
    if step not in (PREVIEW, APPLY):
        return _show_form(request, endpoint, selection, controls)
    try:
        bodies = _bodies(uow, endpoint, selection, members)
    except ValueError as error:
        controls[0].errors = [str(error)]
        return _show_form(request, endpoint, selection, controls, INVALID)
    if (done := carried_out(request, endpoint, selection, step, bodies, "renamed", len(bodies))) is not None:
        return done
    preview = preview_updates(uow, endpoint, bodies)
    _explain(uow, endpoint, preview, {key: body[NAME] for key, body in bodies.items()})
    preview.unchanged += len(selection.keys) - len(bodies)
    return show_changes(request, endpoint, selection, preview, members, "Rename")


def _controls(members: Members) -> list[Control]:
    """The controls of the form, with what was posted."""
    find = Control(FIND, "Find", required=True, attributes={"maxlength": patterns.MAX_LENGTH, "spellcheck": "false"})
    text = "What is to be put in its place. \\1 is the first group of a regular expression."
    replacement = Control(REPLACEMENT, "Replace by", help=text, attributes=find.attributes)
    is_pattern = Control(IS_PATTERN, "Regular expression", "checkbox")
    for control in (find, replacement, is_pattern):
        control.values = [last_text(members, control.name)] if members.get(control.name) else []
    return [find, replacement, is_pattern]


def _bodies(uow: UnitOfWork, endpoint: Endpoint, selection: Selection, members: Members) -> dict[Any, dict[str, Any]]:
    """The new names of the objects whose name changes, by id.

    :raises ValueError: for a pattern that is none, or takes too long
    """
    find, replacement = last_text(members, FIND), last_text(members, REPLACEMENT)
    is_pattern = last_text(members, IS_PATTERN) == "true"
    if not find:
        raise ValueError("Write what is to be found.")
    if len(replacement) > patterns.MAX_LENGTH:
        raise ValueError(f"The replacement has more than {patterns.MAX_LENGTH} characters.")
    if is_pattern:
        patterns.check(find)
    without = frozenset(endpoint.fields.keys() - {NAME, "id"})
    items = dict(plan_of(endpoint, "full", without).fetch(uow, selection.keys, bounded=True))
    names = {key: items[key][NAME] for key in selection.keys if key in items and items[key][NAME]}
    if is_pattern:
        renamed = uow.pattern_budget.substitute(find, replacement, list(names.values()))
    else:
        renamed = [name.replace(find, replacement) for name in names.values()]
    pairs = zip(names.items(), renamed, strict=True)
    return {key: {NAME: new} for (key, name), new in pairs if new != name}


def _explain(uow: UnitOfWork, endpoint: Endpoint, preview: BulkPreview, new_names: Mapping[Any, str]) -> None:
    """Adds the new names of refused objects to their lines, which are the first, and what has these names."""
    refused = list(preview.refused)[:MAX_LINES]
    holders = holders_of(uow, endpoint, refused, dict(itertools.islice(new_names.items(), MAX_PREVIEWED)))
    stored = listing.rows(uow, endpoint, refused, "change") if refused else {}
    label = label_of(endpoint.fields[NAME])
    for place, key in enumerate(refused):
        before = str(stored[key][NAME]) if key in stored else ""
        preview.lines[place] = dataclasses.replace(
            preview.lines[place],
            differences=[ShownDifference(label, before, new_names[key])],
            against=[
                ("Would get the same name:" if item.renamed else "Has this name:", item.name, item.path)
                for item in holders.get(key, ())
            ],
        )


def _show_form(
    request: Request, endpoint: Endpoint, selection: Selection, controls: list[Control], status: int = 200
) -> Response:
    values = {"endpoint": endpoint, "list_path": page_path(endpoint), "selection": selection, "controls": controls}
    return page(request, RENAME, values | named_objects(request.uow, endpoint, selection), status)
