"""*Try it* below the form of a webhook: what its templates, which are not saved yet, render for a change, and which
parts of its conditions hold for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_extras.change_conditions import NAME, errors_of, faults_of_form
from netinv_extras.templates import sandbox
from netinv_extras.templates.web import form_part as template_part
from netinv_extras.templates.web.trial_results import TrialResult
from netinv_extras.webhooks import condition_preview, payload, preview
from netinv_extras.webhooks.models import EVENTS
from netinv_web.extensions import FormPart
from netinv_web.forms import control_values
from netinv_web.forms.controls import Control
from netinv_web.forms.form import Form

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

LABEL = "extras.webhook"
BODY, HEADERS = "body_template", "additional_headers"


def _content(request: Request, endpoint: Endpoint, form: Form) -> dict[str, Any]:
    if not template_part.asked_for(request):
        return dict(template_part.NOTHING)
    uow = request.uow
    controls = {control.name: control for control in form.controls}
    events = {name: controls[name].value == "true" for name in EVENTS}
    webhook = {**events, "id": form.key or uow.request_id, "name": controls["name"].value}
    change = preview.sample_change(uow, webhook, [*controls["content_types"].values])
    results = [result for result in template_part.sources_of(form, [BODY, HEADERS]) if result.source.strip()]
    variables = preview.variables_of(uow, change)
    renderings = [sandbox.Rendering(result.source, variables, lines=result.name == HEADERS) for result in results]
    texts = sandbox.render(renderings, sandbox.limits_of(uow.registry)) if renderings else []
    media_type = controls["http_content_type"].value
    shown = [
        _check_media_type(result.with_outcome(text), media_type) for result, text in zip(results, texts, strict=True)
    ]
    shown += _judge_conditions(request, controls[NAME], [*controls["content_types"].values], change)
    sample = preview.sample_name(uow.registry, change)
    of_sample = f"As for the newest change that matches: {sample}." if sample else INVENTED
    problem = "" if results else "Without a template the body is the change as JSON."
    return {**template_part.NOTHING, "results": shown, "note": of_sample, "problem": problem}


def _judge_conditions(
    request: Request, control: Control, labels: Sequence[str], change: Mapping[str, Any]
) -> list[TrialResult]:
    """The parts of the conditions in the form that hold for a recorded change; nothing without conditions. Those that
    could not be saved are not judged.
    """
    result = TrialResult(NAME, control.label, control.value)
    try:
        given = control_values.parse_json(control.value.strip() or "null")
    except colander.Invalid as error:
        return [dataclasses.replace(result, error=str(error.msg))]
    if given is None:
        return []
    if faults := list(faults_of_form(given)) or errors_of(request.uow, [(given, labels)])[0]:
        return [dataclasses.replace(result, error=faults[0])]
    parts = condition_preview.parts(request.uow, {NAME: given}, change)
    lines = [f"{part.part}: {part.words}" for part in parts]
    return [result.with_outcome("\n".join(lines))] if lines else []


INVENTED = "With an invented change: none is recorded that matches and that you may view."
PART = FormPart(template_part.NAME, template_part.TITLE, _content, template=template_part.TEMPLATE)


def _check_media_type(result: TrialResult, media_type: str) -> TrialResult:
    """The result, with an error for a body that is not what its media type says."""
    if result.name != BODY or result.text is None:
        return result
    headers: Mapping[str, bytes] = {"Content-Type": media_type.encode()}
    try:
        payload.check_json(headers, result.text.encode("utf-8", "replace"))
    except payload.PayloadError as error:
        return dataclasses.replace(result, text=None, error=str(error))
    return result


@hookimpl
def netinv_web_form_parts(endpoint: Endpoint) -> Sequence[FormPart]:
    """*Try it*: the part of the form that renders the templates of a webhook."""
    return [PART] if endpoint.label == LABEL else []
