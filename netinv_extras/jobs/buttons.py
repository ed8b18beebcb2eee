"""Job buttons: run a job for one object."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core.auth import permissions
from netinv_core.errors import Invalid
from netinv_core.fields.schema import REQUIRED
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.http.views import key_of
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational
from netinv_core.models.columns import CASCADE, Ref, boolean, choice, column, foreign_key, integer, required_text
from netinv_core.read import listing
from netinv_core.resource import Resource, content_type_list
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import run_views
from netinv_extras.jobs.hooks import check_receiver
from netinv_extras.jobs.models import Job
from netinv_extras.templates import sandbox
from netinv_extras.templates.custom_links import BUTTONS

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

NO_OBJECT = "Related object not found using the provided ID: {}"


class JobButton(Organizational):
    """A button on every object of certain models, which runs a job.

    ``text`` is a Jinja2 template in which ``obj`` is the object.

    Buttons with the same ``group_name`` form a menu, sorted by ``weight``. With ``confirmation``, a user interface asks
    the user before it starts the job.
    """

    __tablename__ = "extras_job_button"

    job_id: Mapped[Ref] = foreign_key(Job, on_delete=CASCADE, plain=True)
    name: Mapped[str] = required_text(100, unique=True)
    text: Mapped[str] = required_text(500, "Jinja2 template code for button text. Reference the object as `{{ obj }}`.")
    weight: Mapped[int] = integer(0, 32767, default=100)
    group_name: Mapped[str] = column(
        length=50, default="", blank=True, help="Buttons with the same group will appear as a dropdown menu"
    )
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
def job_is_a_button_receiver(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """The job of a button is a job button receiver."""
    check_receiver(uow, drafts, "is_job_button_receiver", "Select a job that is a job button receiver.")


_REQUEST = {
    "type": "object",
    "properties": {"object_model_name": {"type": "string"}, "object_pk": {"type": "string", "format": "uuid"}},
    "required": ["object_model_name", "object_pk"],
}


@documented(run_views.RESPONSE, request_body=_REQUEST, status=201)
def run_button(request: Request) -> dict[str, Any]:
    """Runs a button's job for an object that the user may view."""
    uow = request.uow
    button = listing.detail(uow, request.context.endpoint, key_of(request))
    result, schedule = start_for_object(uow, button, body_of(request))
    request.response.status_int = 201
    return run_views.represent_run(uow, result, schedule)


def start_for_object(uow: UnitOfWork, button: dict[str, Any], body: Any) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """Starts a button's job for the object that the body names; returns the ids as :func:`run_views.start`."""
    data = _object_data(uow, button, body)
    try:
        return run_views.start(uow, uow.registry[job_models.LABEL], button["job"], {"data": data})
    except Invalid as error:
        refused = error.body.get("errors", ()) if isinstance(error.body, dict) else ()
        if "object_pk" in refused:
            raise Invalid.field("object_pk", NO_OBJECT.format(data["object_pk"])) from None
        raise


def _object_data(uow: UnitOfWork, button: dict[str, Any], body: Any) -> dict[str, str]:
    """Returns the job's variables that refer to the object, which :mod:`netinv_extras.jobs.input` reads.

    :raises Invalid: if something is missing, or the content type is not one of the button's
    :raises Denied: without permission to view its objects
    """
    values = body if isinstance(body, dict) else {}
    if missing := {name: [REQUIRED] for name in ("object_model_name", "object_pk") if not values.get(name)}:
        raise Invalid(missing)
    label, endpoint = values["object_model_name"], uow.registry.get(str(values["object_model_name"]))
    if endpoint is None or label not in button["content_types"]:
        raise Invalid.field("object_model_name", f"The button is on {', '.join(button['content_types'])}.")
    permissions.check(uow, endpoint, "view")
    key = endpoint.parse_key(str(values["object_pk"]))
    return {"object_model_name": label, "object_pk": str(values["object_pk"] if key is None else key)}


def includeme(config: Any) -> None:
    """Adds ``job-buttons/{id}/run/``."""
    config.add_netinv_action("extras/job-buttons", "run", post=run_button, permission="view", runs_aside=True)
