"""Job buttons: jobs that are started for one object, offered where the object is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core.errors import Invalid, NotFound
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.http.views import key_of
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational
from netinv_core.models.columns import CASCADE, Ref, boolean, choice, column, foreign_key, integer, required_text
from netinv_core.read import listing
from netinv_core.resource import Resource, content_type_list
from netinv_core.uow import UnitOfWork
from netinv_core.write.draft import Draft
from netinv_core.write.schema import REQUIRED
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import run_views
from netinv_extras.jobs.hooks import of_kind
from netinv_extras.jobs.models import Job
from netinv_extras.templates import sandbox
from netinv_extras.templates.custom_links import BUTTONS


class JobButton(Organizational):
    """A button on every object of certain models; ``text`` is a Jinja2 template in which ``obj`` is the object.

    Buttons of one ``group_name`` belong in one menu; lower ``weight`` comes first. ``confirmation`` says whether whoever shows it asks again.
    """

    __tablename__ = "extras_job_button"

    job_id: Mapped[Ref] = foreign_key(Job, on_delete=CASCADE, plain=True)
    name: Mapped[str] = required_text(100, unique=True)
    text: Mapped[str] = required_text(500, "Jinja2 template code for button text. Reference the object as `{{ obj }}`.")
    weight: Mapped[int] = integer(0, 32767, default=100)
    group_name: Mapped[str] = column(length=50, default="", blank=True, help="Buttons with the same group will appear as a dropdown menu")
    button_class: Mapped[str] = choice(BUTTONS, 30, default="default", plain=True, blank=False)
    confirmation: Mapped[bool] = boolean(True, "Enable confirmation pop-up box")


job_button_types = content_type_table("extras_job_button_type", "extras_job_button")

job_buttons = Resource(
    JobButton,
    "job-buttons",
    title="job button",
    order=["group_name", "weight", "name"],
    search=["name", "text"],
    fields=[content_type_list("content_types", job_button_types, required=True, empty=False)],
    omit=["custom_fields", "computed_fields", "relationships"],
    example={"content_types": ["extras.secret"], "text": "Check {{ obj.name }}"},
    exempt_by_name_only=True,
)


job_buttons.rule(sandbox.rule("text"))


@job_buttons.rule
def starts_a_receiver(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The job is one that takes an object."""
    of_kind(uow, drafts, "is_job_button_receiver", "Select a job that is a job button receiver.")


_TAKES = {
    "type": "object",
    "properties": {"object_model_name": {"type": "string"}, "object_pk": {"type": "string", "format": "uuid"}},
    "required": ["object_model_name", "object_pk"],
}


@documented(run_views.GIVES, takes=_TAKES, status=201)
def press(request: Request) -> dict[str, Any]:
    """Starts a button's job for an object that the user may view."""
    uow = request.uow
    button = listing.detail(uow, request.context.endpoint, key_of(request))
    data = _object(uow, button, body_of(request))
    result, schedule = run_views.start(uow, uow.registry[job_models.LABEL], button["job"], {"data": data})
    request.response.status_int = 201
    return run_views.answered(uow, result, schedule)


def _object(uow: UnitOfWork, button: dict[str, Any], body: Any) -> dict[str, str]:
    """What the job is told of the object.

    :raises Invalid: when it is none that the button is on
    """
    given = body if isinstance(body, dict) else {}
    if missing := {name: [REQUIRED] for name in ("object_model_name", "object_pk") if not given.get(name)}:
        raise Invalid(missing)
    label, endpoint = given["object_model_name"], uow.registry.get(str(given["object_model_name"]))
    if endpoint is None or label not in button["content_types"]:
        raise Invalid.field("object_model_name", f"The button is on {', '.join(button['content_types'])}.")
    key = endpoint.parse_key(str(given["object_pk"]))
    try:
        if key is None:
            raise NotFound()
        listing.detail(uow, endpoint, key, shape="nested")
    except NotFound:
        raise Invalid.field("object_pk", f"Related object not found using the provided ID: {given['object_pk']}") from None
    return {"object_model_name": label, "object_pk": str(key)}


def includeme(config: Any) -> None:
    """Adds ``job-buttons/{id}/run/``."""
    config.add_netinv_action("extras/job-buttons", "run", post=press, permission="view")
