"""Job buttons: jobs that are started for one object, offered where the object is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response
from sqlalchemy.orm import Mapped

from netinv_core.context import Context
from netinv_core.errors import Invalid, NotFound
from netinv_core.http import services
from netinv_core.http.answers import body_of
from netinv_core.model import CASCADE, Organizational, Ref, choice, column, labels_of, required_text, switch, to, whole
from netinv_core.read import pages
from netinv_core.resource import Resource, labels
from netinv_core.write.draft import Draft
from netinv_core.write.schema import REQUIRED
from netinv_extras import installed_jobs, job_requests, templates
from netinv_extras.custom_links import BUTTONS
from netinv_extras.installed_jobs import Job
from netinv_extras.job_hooks import of_kind


class JobButton(Organizational):
    """A button on every object of certain models; ``text`` is a Jinja2 template in which ``obj`` is the object.

    Buttons of one ``group_name`` belong in one menu; lower ``weight`` comes first. ``confirmation`` says whether whoever shows it asks again.
    """

    __tablename__ = "extras_job_button"

    job_id: Mapped[Ref] = to(Job, on_delete=CASCADE, plain=True)
    name: Mapped[str] = required_text(100, unique=True)
    text: Mapped[str] = required_text(500, "Jinja2 template code for button text. Reference the object as `{{ obj }}`.")
    weight: Mapped[int] = whole(0, 32767, default=100)
    group_name: Mapped[str] = column(length=50, default="", blank=True, help="Buttons with the same group will appear as a dropdown menu")
    button_class: Mapped[str] = choice(BUTTONS, 30, default="default", plain=True, blank=False)
    confirmation: Mapped[bool] = switch(True, "Enable confirmation pop-up box")


job_button_types = labels_of("extras_job_button_type", "extras_job_button")

job_buttons = Resource(
    JobButton,
    "job-buttons",
    title="job button",
    order=["group_name", "weight", "name"],
    search=["name", "text"],
    fields=[labels("content_types", job_button_types, required=True, empty=False)],
    omit=["custom_fields", "computed_fields", "relationships"],
    example={"content_types": ["extras.secret"], "text": "Check {{ obj.name }}"},
    exempt_by_name_only=True,
)


job_buttons.rule(templates.rule("text"))


@job_buttons.rule
def starts_a_receiver(context: Context, drafts: Sequence[Draft]) -> None:
    """The job is one that takes an object."""
    of_kind(context, drafts, "is_job_button_receiver", "Select a job that is a job button receiver.")


_TAKES = {
    "type": "object",
    "properties": {"object_model_name": {"type": "string"}, "object_pk": {"type": "string", "format": "uuid"}},
    "required": ["object_model_name", "object_pk"],
}


@services.shaped(job_requests.GIVES, takes=_TAKES, status=201)
def press(request: Request) -> Response:
    """Starts a button's job for an object that the user may view."""
    context, endpoint = services.open_item(request, ("POST",), action="view")
    if request.context.key is None:
        raise NotFound()
    button = pages.detail(context, endpoint, request.context.key)
    data = _object(context, button, body_of(request))
    result, schedule = job_requests.start(context, context.registry[installed_jobs.LABEL], button["job"], {"data": data})
    return services.answer(context, request, job_requests.answered(context, result, schedule), 201)


def _object(context: Context, button: dict[str, Any], body: Any) -> dict[str, str]:
    """What the job is told of the object.

    :raises Invalid: when it is none that the button is on
    """
    given = body if isinstance(body, dict) else {}
    if missing := {name: [REQUIRED] for name in ("object_model_name", "object_pk") if not given.get(name)}:
        raise Invalid(missing)
    label, endpoint = given["object_model_name"], context.registry.get(str(given["object_model_name"]))
    if endpoint is None or label not in button["content_types"]:
        raise Invalid.field("object_model_name", f"The button is on {', '.join(button['content_types'])}.")
    key = endpoint.parse_key(str(given["object_pk"]))
    try:
        if key is None:
            raise NotFound()
        pages.detail(context, endpoint, key, shape="nested")
    except NotFound:
        raise Invalid.field("object_pk", f"Related object not found using the provided ID: {given['object_pk']}") from None
    return {"object_model_name": label, "object_pk": str(key)}


def includeme(config: Any) -> None:
    """Adds ``job-buttons/{id}/run/``."""
    actions = services.Actions(config.registry.netinv.of_model(JobButton).app)
    actions.item("job-buttons", "run", post=press)
    for service in actions.services:
        config.add_cornice_service(service)
