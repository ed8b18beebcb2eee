"""Tabs of a validation rule: the objects that break it, and its trial on one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.hookspecs import hookimpl
from netinv_core.labels import capitalize, label_of
from netinv_core.read.filter_words import Names, condition_words, filters_of_condition
from netinv_extras.validation_rules import trials
from netinv_extras.validation_rules.models import LABEL
from netinv_extras.validation_rules.violations import broken_by, row_of
from netinv_web.extensions import ListTab, Tab
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control
from netinv_web.forms.form import readable
from netinv_web.lists.named_objects import names_of
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TRIAL_TEMPLATE = "netinv_extras:validation_rules/web/templates/trial.jinja2"


def _violations(request: Request, rule: Mapping[str, Any]) -> list[Any]:
    return [broken_by(request.uow, rule["id"])[1]]


def _trial(request: Request, rules: Endpoint, rule: Mapping[str, Any]) -> dict[str, Any]:
    """The form that asks for an object, and what the rule says of the one that it names."""
    uow = request.uow
    endpoint, _ = row_of(uow, rule["id"])
    control = Control(trials.OBJECT, capitalize(endpoint.title), "picker", required=True, target=endpoint)
    pickers.fill(control, lambda name: next(iter(uow.query.get(name, ())), None))
    values: dict[str, Any] = {"control": control, "trial": None}
    if control.values:
        try:
            key = pickers.chosen_id(uow, control, endpoint.natural_sort)
            trial = trials.try_rule(uow, rule["id"], key)
            named = [item for part in trial.parts for item in filters_of_condition(endpoint, {part.name: part.value})]
            names = names_of(uow, named)
            parts = [(part, _words(endpoint, part, names)) for part in trial.parts]
            values |= {"trial": trial, "parts": parts, "path": object_path(endpoint, key)}
        except Invalid as error:
            control.errors = [readable(error.body)]
    pickers.complete(uow, [control])
    control.may_add = False
    return values


def _words(endpoint: Endpoint, part: trials.TriedPart, names: Names) -> tuple[str, str, str]:
    """Label, comparison and values of a part of a rule."""
    if part.condition == trials.UNIQUE:
        return ", ".join(label_of(endpoint.fields[name]) for name in part.value), "unique", ""
    label, lookup, texts = condition_words(endpoint, part.name, part.value, names)
    return label, lookup, ", ".join(texts)


TRIAL = Tab("try", "Try", _trial, template=TRIAL_TEMPLATE, position=110)
TAB = ListTab(
    "violations",
    "Violations",
    lambda rule: str(rule["content_type"]),
    _violations,
    lambda rule: None,
    100,
    api_path=lambda rule: f"/api/extras/validation-rules/{rule['id']}/violations/",
    counted=False,
)


@hookimpl
def netinv_web_tabs(endpoint: Endpoint) -> Sequence[Tab | ListTab]:
    """The objects that break a rule, and its trial on one."""
    return [TAB, TRIAL] if endpoint.label == LABEL else []
