"""*Try it* below the forms of templates: what the text in the form, which is not saved yet, renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_extras.templates.web.trial_results import KINDS, TrialResult, trial_of
from netinv_web.extensions import FormPart
from netinv_web.forms.form import SHOW_AGAIN, Form
from netinv_web.pages import form_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

NAME, TITLE = "try", "Try it"
TEMPLATE = "netinv_extras:templates/web/templates/trial_part.jinja2"
# The values of the template before anything is tried.
NOTHING: Mapping[str, Any] = {
    "note": "",
    "problem": "",
    "fallback": "",
    "results": (),
    "found": (),
    "chosen": None,
    "listed": False,
    "search": "",
    "object_name": "_try_object",
    "search_name": "_try_search",
}


@hookimpl
def netinv_web_form_parts(endpoint: Endpoint) -> list[FormPart]:
    """The part of the forms of a resource, if its objects are templates for objects."""
    return [FormPart(NAME, TITLE, _content, template=TEMPLATE)] if endpoint.label in KINDS else []


def asked_for(request: Request) -> bool:
    """True for a form that was posted by the button of the part."""
    return request.method == "POST" and form_of(request).get(SHOW_AGAIN) == NAME


def sources_of(form: Form, columns: Sequence[str]) -> list[TrialResult]:
    """The texts in the form, as results that are not rendered yet."""
    controls = {control.name: control for control in form.controls}
    return [TrialResult(name, controls[name].label, controls[name].value) for name in columns]


def _content(request: Request, endpoint: Endpoint, form: Form) -> dict[str, Any]:
    if not asked_for(request):
        return dict(NOTHING)
    kind, given = KINDS[endpoint.label], form_of(request)
    controls = {control.name: control for control in form.controls}
    labels, results = [*controls[kind.types].values], sources_of(form, kind.columns)
    trial = trial_of(request.uow, kind, labels, results, given.get("_try_object"), given.get("_try_search"))
    fallback = controls["fallback_value"].value if "fallback_value" in controls else ""
    return {**NOTHING, **trial, "fallback": fallback}
