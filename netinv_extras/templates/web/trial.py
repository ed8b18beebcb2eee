"""The page *Try it* of a template: its text beside what it renders for a chosen object, before it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, NotFound, error_text
from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.labels import label_of
from netinv_core.read import listing
from netinv_core.write import save
from netinv_extras.templates.web.trial_results import KINDS, TrialResult, trial_of
from netinv_web import notices
from netinv_web.extensions import Action
from netinv_web.objects.details import object_values
from netinv_web.pages import form_of, page, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEMPLATE = "netinv_extras:templates/web/templates/trial.jinja2"


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The way to the page."""
    if endpoint.label not in KINDS:
        return []
    return [Action("try-template", "Try it", _path, permission="change", prominent=True)]


def _path(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    return f"{object_path(endpoint, item['id'])}try/"


def show(request: Request) -> Response:
    """The templates as they are stored, or as a form has them, and what they render."""
    return _page(request, _representation(request))


def store(request: Request) -> Response:
    """Saves the templates of the form; the page again with the reason if they are refused."""
    item, endpoint, form = _representation(request), request.context.endpoint, form_of(request)
    changed = {name: form[name] for name in KINDS[endpoint.label].columns if name in form}
    try:
        save.update(request.uow, endpoint, [{"id": item["id"], **changed}], partial=True, single=True)
    except Invalid as invalid:
        return _page(request, item, error_text(invalid.body), 422)
    return notices.add(request, see_other(object_path(endpoint, item["id"])), notices.Notice("Saved."))


def _representation(request: Request) -> dict[str, Any]:
    key = key_of(request)
    if key is None:
        raise NotFound()
    return listing.detail(request.uow, request.context.endpoint, key)


def _page(request: Request, item: Mapping[str, Any], refused: str = "", status: int = 200) -> Response:
    uow, endpoint = request.uow, request.context.endpoint
    given = {name: values[-1] for name, values in uow.query.items()} if request.method != "POST" else form_of(request)
    kind = KINDS[endpoint.label]
    sources = {name: str(given.get(name, item[name])).replace("\r\n", "\n") for name in kind.columns}
    labels = {name: label_of(endpoint.fields[name]) for name in kind.columns}
    types = item[kind.types]
    results = [TrialResult(name, labels[name], source) for name, source in sources.items()]
    labels_of_objects = types if isinstance(types, list) else [types]
    trial = trial_of(uow, kind, labels_of_objects, results, given.get("object"), given.get("search"))
    values = object_values(request, endpoint, item, "try")
    own = {
        **trial,
        "object_name": "object",
        "search_name": "search",
        "refused": refused,
        "try_path": f"{values['path']}try/",
        "fallback": item.get("fallback_value", ""),
    }
    return page(request, TEMPLATE, values | own, status)


def includeme(config: Any) -> None:
    """Adds the pages."""
    for path in ("export-templates", "computed-fields", "custom-links", "job-buttons"):
        common = {"permission": "change", "resource": f"extras/{path}"}
        if (config.registry.netinv.by_path.get(("extras", path))) is None:
            continue
        config.add_netinv_page(f"/extras/{path}/{{id}}/try/", show, methods=["GET", "POST"], read_only=True, **common)
        config.add_netinv_page(f"/extras/{path}/{{id}}/try/save/", store, methods=["POST"], **common)
