"""The page that runs the job of a button for an object."""

from __future__ import annotations

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Denied, Invalid, NotFound, error_text
from netinv_core.http.views import key_of
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.read import listing
from netinv_extras.jobs.buttons import start_for_object
from netinv_web import notices
from netinv_web.following import page_of_object
from netinv_web.menu import may
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path

CONFIRMATION = "netinv_extras:jobs/web/templates/job_button.jinja2"
JOB, RESULT = "extras.job", "extras.jobresult"


def run_button(request: Request) -> Response:
    """Asks whether to run the job of a button for an object, and runs it."""
    uow, buttons = request.uow, request.context.endpoint
    button = listing.detail(uow, buttons, key_of(request))
    label, text = (uow.query.get(name, [""])[-1] for name in ("object_model_name", "object_pk"))
    endpoint = uow.registry.get(label)
    key = None if endpoint is None else endpoint.parse_key(text)
    if endpoint is None or key is None:
        raise NotFound()
    item = listing.detail(uow, endpoint, key, shape=NAME_IN_CONTEXT)
    path = object_path(endpoint, key)
    values = {"button": button, "object": item, "back": path, "error": ""}
    if not may(uow, uow.registry[JOB], "run"):
        raise Denied(missing=(JOB, "run"))
    if request.method != "POST":
        return page(request, CONFIRMATION, values)
    try:
        result, _ = start_for_object(uow, button, {"object_model_name": label, "object_pk": text})
    except Invalid as invalid:
        return page(request, CONFIRMATION, values | {"error": error_text(invalid.body)}, 422)
    notice = notices.Notice(f"The job of {button['name']} was started." if result else "The job waits for approval.")
    following = path if result is None else page_of_object(uow, uow.registry[RESULT], result, path)
    return notices.add(request, see_other(following), notice)
