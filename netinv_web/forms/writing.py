"""Forms for one object: add, edit and clone. They post to their own address, and write as the API does."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.errors import Conflict, Invalid, RequestError
from netinv_core.http import multipart
from netinv_core.http.views import key_of
from netinv_core.labels import label_of, title_of
from netinv_core.models.base import Tree
from netinv_core.models.columns import CASCADE
from netinv_core.read.names import represented_name
from netinv_core.write import read_back, save, trees
from netinv_core.write.created_along import count_created_along
from netinv_web import notices
from netinv_web.bulk import bulk_run
from netinv_web.extensions import extensions_of, render_safely
from netinv_web.following import list_or_form, page_of_object, tab_of_parent
from netinv_web.forms import form as forms
from netinv_web.forms import merging, several
from netinv_web.forms.cloning import fields_left_empty
from netinv_web.forms.form import Form, Submission
from netinv_web.lists.columns import naming_field, presentation_of
from netinv_web.pages import fragment, page, see_other
from netinv_web.paths import object_path, page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

FORM = "netinv_web:templates/form.jinja2"
QUICK_FORM = "netinv_web:templates/quick_form.jinja2"
PATTERN_HELP = "Several at once: ge-0/0/[0-47] or eth[a,b]. A preview shows them before they are created."
SEVERAL = "netinv_web:templates/several.jinja2"
REVEALED = "netinv_web:templates/revealed.jinja2"
INLINE_FORM = "netinv_web:templates/inline_form.jinja2"
CREATED = "netinv_web:templates/created.jinja2"
CONFLICT = 409  # HTTP status
INVALID = 422  # HTTP status


def add(request: Request) -> Response:
    """The form for a new object. The query presets fields; ``_clone`` names an object to copy.

    With ``_quick`` the answer is the short form for a dialog.
    """
    endpoint = request.context.endpoint
    if request.method == "POST":
        return _create(request, endpoint)
    values = forms.defaults(endpoint) | forms.first_statuses(request.uow, endpoint) | _preset(request, endpoint)
    if is_quick(request):
        return _show(request, endpoint, forms.build(request, endpoint, values, quick_fields(endpoint)))
    return _show(request, endpoint, forms.build(request, endpoint, values))


def is_quick(request: Request) -> bool:
    """True for the short form in a dialog of another form."""
    return "_quick" in request.uow.query


def quick_fields(endpoint: Endpoint) -> list[str]:
    """The fields of the short form: those that the presentation states, or the required ones."""
    stated = list(presentation_of(endpoint).quick_fields)
    writable = forms.writable_fields(endpoint)
    return stated or [name for name, field in writable.items() if field.required or name == "status"]


def _preset(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The values that the query presets. Values that no such field can have are errors of the form when it is
    posted.
    """
    query = request.uow.query
    values: dict[str, Any] = {}
    if "_clone" in query:
        key = endpoint.parse_key(query["_clone"][-1])
        copied = forms.read_object(request.uow, endpoint, key) if key is not None else {}
        left_out = fields_left_empty(endpoint)
        values |= {name: value for name, value in copied.items() if name in endpoint.writable and name not in left_out}
    return values | _fields_of_query(request, endpoint)


def _fields_of_query(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The parameters of the query that are fields of the form."""
    parameters = {name: items for name, items in request.uow.query.items() if name in endpoint.writable}
    return {name: items if len(items) > 1 else items[0] for name, items in parameters.items()}


def _create(request: Request, endpoint: Endpoint) -> Response:
    members = multipart.members_of(request, endpoint)
    limited = quick_fields(endpoint) if is_quick(request) else None
    submission = Submission(request, endpoint, forms.defaults(endpoint), members, limited)
    if submission.text(forms.SHOW_AGAIN):
        return _show_again(request, endpoint, submission)
    try:
        body = submission.body(new=True)
        names = several.patterns_in(submission, body)
        if names:
            bodies = several.spread(request.uow, endpoint, several.expand_patterns(body, names))
            return _create_several(request, endpoint, submission, bodies, names)
        created = save.create(request.uow, endpoint, [body], single=True)[0]
    except (Invalid, Conflict) as error:
        return _show_errors(request, endpoint, submission, error)
    name = represented_name(endpoint, created)
    if is_quick(request):
        return fragment(request, CREATED, {"created": created, "name": name})
    path = page_of_object(request.uow, endpoint, created["id"], "")
    text, undo = f"{title_of(endpoint)} {name} was created.", str(request.uow.request_id)
    if request.uow.revealed:
        return _reveal_value(request, endpoint, created, text, path or list_or_form(request.uow, endpoint))
    notice, following = notices.Notice(text, undo=undo), path or list_or_form(request.uow, endpoint)
    if path and submission.text("_another"):
        following = f"{page_path(endpoint)}add/?{urlencode({'_clone': created['id']})}"
        notice = dataclasses.replace(notice, link=path, link_text="Open it")
    return notices.add(request, see_other(following), notice)


def _reveal_value(request: Request, endpoint: Endpoint, created: Mapping[str, Any], text: str, path: str) -> Response:
    """The page with a value of a new object that no other answer shows, such as the key of a token."""
    once = request.uow.revealed.values()
    shown = [
        (label_of(field), created[name])
        for name, field in endpoint.fields.items()
        if field.confidential and created.get(name) in once
    ]
    response = page(request, REVEALED, {"endpoint": endpoint, "text": text, "shown": shown, "path": path})
    response.headers["Cache-Control"] = "no-store"
    return response


def _create_several(
    request: Request, endpoint: Endpoint, submission: Submission, bodies: Sequence[dict[str, Any]], names: Sequence[str]
) -> Response:
    """Creates the objects that patterns stand for, after a preview that the user agreed to. The worker does it where
    they, with what is created along, are many; the preview tries the objects alone then.
    """
    along = count_created_along(request.uow, endpoint, bodies)
    is_long = bulk_run.is_long(request.uow, len(bodies) + along.total())
    if submission.text(several.ANSWER) == several.ALL:
        run = bulk_run.start(request.uow, endpoint, bulk_run.CREATE, bodies, along.total())
        if run is not None:
            return see_other(run)
        try:
            created = save.create(request.uow, endpoint, bodies)
        except (Invalid, Conflict) as raised:
            error: RequestError | None = raised
        else:
            text = f"{len(created):,} {endpoint.plural} were created."
            tab = tab_of_parent(request.uow, endpoint, created)
            notice = notices.Notice(
                text, undo=str(request.uow.request_id), link=tab, link_text="Show them" if tab else ""
            )
            return notices.add(request, see_other(tab or list_or_form(request.uow, endpoint)), notice)
    else:
        error = several.refusal(request.uow.as_outline() if is_long else request.uow, endpoint, bodies)
    shown = several.preview(request.uow, endpoint, submission, bodies, names, error)
    values = {"endpoint": endpoint, "preview": shown, "list_path": page_path(endpoint), "path": request.path_qs}
    values["along"] = [f"{count:,} {request.uow.registry[label].plural}" for label, count in along.items() if count]
    return page(request, SEVERAL, values, INVALID if shown.faulty else 200)


def edit(request: Request) -> Response:
    """The form for the fields of an object. Changes of others since the form was opened are merged by field. The query
    presets fields, as changes that are not saved yet.

    ``_field`` limits it to one field; the answer is then a form without a page, for the place of a value.
    """
    endpoint, key, uow = request.context.endpoint, key_of(request), request.uow
    names = uow.query.get("_field")
    if request.method != "POST":
        representation = forms.read_object(uow, endpoint, key)
        values = representation | _fields_of_query(request, endpoint)
        return _show(request, endpoint, forms.build(request, endpoint, values, names), representation)
    members = multipart.members_of(request, endpoint)
    if issubclass(endpoint.model, Tree):
        trees.lock(uow, endpoint, [members], new=False)
    stored = read_back.read_for_change(
        uow, endpoint, [key], single=True
    )  # nobody changes it between comparison and write
    current = stored.representations[key]
    if permissions.limits(uow, endpoint, "view", endpoint.table):
        forms.read_object(uow, endpoint, key)  # 404 for an object that the user may change, not view
    base = merging.baseline(uow, endpoint, key, current, forms.last_text(members, forms.VERSION))
    submission = Submission(request, endpoint, base.original, members, names)
    if submission.text(forms.SHOW_AGAIN):
        return _show_again(request, endpoint, submission, current)
    if merging.conflicts_of(submission, base):
        merging.show_current(submission, base)
        forms.complete(uow, submission.form)
        return _show(request, endpoint, submission.form, current, CONFLICT)
    try:
        body = {**submission.body(new=False), "id": key}
        changed = save.update(uow, endpoint, [body], partial=True, single=True, stored=stored)[0]
    except (Invalid, Conflict) as error:
        return _show_errors(request, endpoint, submission, error, current)
    if not submission.changed:
        return see_other(object_path(endpoint, key))
    name, merged = represented_name(endpoint, changed), merging.merged_sentence(submission, base)
    text = f"{title_of(endpoint)} {name} was changed.{merged}"
    notice = notices.Notice(text, undo=str(uow.request_id))
    following = page_of_object(uow, endpoint, key, "") or list_or_form(uow, endpoint)
    return notices.add(request, see_other(following), notice)


def _show(
    request: Request, endpoint: Endpoint, form: Form, representation: Mapping[str, Any] | None = None, status: int = 200
) -> Response:
    values = {"endpoint": endpoint, "form": form, "object": representation, "list_path": page_path(endpoint)}
    forms.offer_choices(request.uow, form, key_of(request) if representation is not None else None)
    if representation is None:
        _hint_at_patterns(endpoint, form)
    cancel = page_path(endpoint) if representation is None else object_path(endpoint, representation["id"])
    template = QUICK_FORM if is_quick(request) else INLINE_FORM if "_field" in request.uow.query else FORM
    values |= {"cancel": cancel, "heading": _page_heading(endpoint, representation), "path": request.path_qs}
    if template == FORM:
        parts = extensions_of(endpoint.registry.hooks.netinv_web_form_parts, endpoint, registry=endpoint.registry)
        values["parts"] = [shown for part in parts if (shown := render_safely(request, part, endpoint, form))]
    return page(request, template, values, status)


def _hint_at_patterns(endpoint: Endpoint, form: Form) -> None:
    """Says at the name of what belongs to another object, such as a port, that several are made by a pattern. Scripts
    show what the patterns in text boxes stand for.
    """
    for control in form.controls:
        if control.kind == "text":
            control.attributes = {**control.attributes, "data-pattern": ""}
    parts = [field for field in endpoint.fields.values() if isinstance(field, fields.Reference)]
    if any(field.required and field.link.on_delete == CASCADE for field in parts):
        for control in form.controls:
            if control.name == (naming_field(endpoint) or "name") and control.kind == "text" and not control.help:
                control.help = PATTERN_HELP


def _show_again(
    request: Request,
    endpoint: Endpoint,
    submission: Submission,
    representation: Mapping[str, Any] | None = None,
) -> Response:
    """The form with what was entered, except secrets. Nothing is written."""
    submission.forget_secrets()
    forms.complete(request.uow, submission.form)
    return _show(request, endpoint, submission.form, representation)


def _page_heading(endpoint: Endpoint, representation: Mapping[str, Any] | None) -> str:
    if representation is None:
        return f"Add {endpoint.title}"
    return f"Edit {represented_name(endpoint, representation)}"


def _show_errors(
    request: Request,
    endpoint: Endpoint,
    submission: Submission,
    error: RequestError,
    representation: Mapping[str, Any] | None = None,
) -> Response:
    """The form with what was entered, except secrets, and the errors at their controls."""
    submission.forget_secrets()
    forms.complete(request.uow, submission.form)
    forms.add_errors(submission.form, error.body)
    return _show(request, endpoint, submission.form, representation, INVALID)
