"""The form that runs a job: a control for each of its variables, dry run, queue and schedule."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Denied, Invalid, NotFound, error_text
from netinv_core.fields import errors_of
from netinv_core.labels import label_of_name
from netinv_core.read import listing
from netinv_core.storage.files import Upload
from netinv_extras.jobs import variables as kinds
from netinv_extras.jobs.run_views import Row, refusal_aside, runnable, start
from netinv_extras.jobs.schedules import CUSTOM, IMMEDIATELY, INTERVALS
from netinv_extras.jobs.variables import Variable
from netinv_web import notices
from netinv_web.following import page_of_object
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control
from netinv_web.objects.details import object_values
from netinv_web.pages import form_of, form_text, page, see_other

if TYPE_CHECKING:
    from netinv_core.registry import Registry

TEMPLATE = "netinv_extras:jobs/web/templates/job_run.jinja2"
PREFIX = "var-"  # of the names of controls of variables, which may be called like the others
SCHEDULE = ("interval", "name", "start_time", "crontab")


@dataclasses.dataclass
class RunForm:
    """The controls of a run: those of the variables, and those of the run itself."""

    variables: list[Control]
    options: list[Control]
    errors: list[str] = dataclasses.field(default_factory=list)

    @property
    def controls(self) -> list[Control]:
        """All controls."""
        return [*self.variables, *self.options]


def run(request: Request) -> Response:
    """The form, and the run or schedule that it asks for."""
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    if key is None:
        raise NotFound()
    row, job_class = runnable(uow, endpoint, key)
    if uow.aside is not None and (reason := refusal_aside(row, job_class)):
        raise Conflict(reason)
    variables = job_class.job.variables()
    form = RunForm(
        [_control(uow.registry, name, variable) for name, variable in variables.items()],
        _options(row, aside=uow.aside is not None),
    )
    if request.method == "GET":
        return _page(request, row, form)
    try:
        body = _body(request, form, variables)
        result_id, schedule_id = start(uow, endpoint, key, body)
    except Invalid as error:
        _add_errors(form, error.body)
        return _page(request, row, form, 422)
    if result_id is not None:
        following = page_of_object(uow, uow.registry["extras.jobresult"], result_id, "")
        if following:
            return see_other(following)
        return notices.add(request, see_other(request.path), notices.Notice("The job was started."))
    text = "The run waits for approval." if row["approval_required"] else "The run is scheduled."
    following = page_of_object(uow, uow.registry["extras.scheduledjob"], schedule_id, request.path)
    return notices.add(request, see_other(following), notices.Notice(text))


def _page(request: Request, row: Row, form: RunForm, status: int = 200) -> Response:
    endpoint = request.context.endpoint
    pickers.complete(request.uow, form.variables)
    try:
        representation = listing.detail(request.uow, endpoint, row["id"])
    except Denied:  # the permission to run a job is not the one to view it
        representation = {"id": row["id"], "display": row["name"]}
    values = object_values(request, endpoint, representation, "run")
    return page(request, TEMPLATE, values | {"form": form, "row": row}, status)


# -- controls


def _control(registry: Registry, name: str, variable: Variable) -> Control:
    """The control of a variable, by its kind."""
    control = Control(
        f"{PREFIX}{name}",
        variable.label or label_of_name(name),
        help=variable.description,
        required=variable.required and variable.default is None,
        values=_texts(variable.default),
    )
    if isinstance(variable, kinds.BooleanVar):
        control.kind, control.required = "checkbox", False
    elif isinstance(variable, kinds.ChoiceVar):
        control.kind, control.choices = "select", [(str(value), label) for value, label in variable.choices]
        control.multiple = isinstance(variable, kinds.MultiChoiceVar)
    elif isinstance(variable, kinds.ObjectVar):
        control.kind, control.multiple = "picker", variable.multiple
        control.target = registry.get(variable.model)
        parameters = variable.parameters({})
        control.parameters = {key: values[0] for key, values in parameters.items() if len(values) == 1}
        control.depends_on = {f"{PREFIX}{other}": key for other, key in variable.depends_on.items()}
    elif isinstance(variable, kinds.IntegerVar):
        control.kind = "number"
        control.attributes = _stated_attributes({"min": variable.min_value, "max": variable.max_value, "step": 1})
    elif isinstance(variable, kinds.FileVar):
        control.kind = "file"
    elif isinstance(variable, kinds.StringVar):
        control.kind = "textarea" if isinstance(variable, kinds.TextVar) else "text"
        control.attributes = _stated_attributes({"maxlength": variable.max_length, "minlength": variable.min_length})
    return control


def _stated_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if value is not None}


def _texts(value: Any) -> Sequence[str]:
    if value is None:
        return []
    items = value if isinstance(value, list | tuple) else [value]
    return [str(item).lower() if isinstance(item, bool) else str(item) for item in items]


def _options(row: Row, *, aside: bool) -> list[Control]:
    """The controls of the run itself; jobs with sensitive variables have no schedule, nor have runs in a change
    request.
    """
    controls: list[Control] = []
    if not row["read_only"]:
        label = "Add the changes to the change request" if aside else "Commit changes"
        commit = Control("commit", label, "checkbox", help="Without it this is a dry run: nothing is kept.")
        commit.values = ["true" if row["commit_default"] else "false"]
        controls.append(commit)
    if row["task_queues"]:
        queues = [(queue, queue) for queue in row["task_queues"]]
        controls.append(Control("task_queue", "Queue", "select", values=[queues[0][0]], choices=queues))
    if row["has_sensitive_variables"] or aside:
        return controls
    intervals = [(value, label) for value, label in INTERVALS.items]
    times = f"Not for “{INTERVALS.labels[IMMEDIATELY]}”."
    return [
        *controls,
        Control("interval", "When", "select", required=True, values=[IMMEDIATELY], choices=intervals),
        Control("name", "Name of the schedule", help=times, attributes={"maxlength": 200}),
        Control("start_time", "Start", "datetime", help=times),
        Control("crontab", "Crontab", help=f"For “{INTERVALS.labels[CUSTOM]}”, such as 0 3 * * 1."),
    ]


# -- what was sent


def _body(request: Request, form: RunForm, variables: Mapping[str, Variable]) -> dict[str, Any]:
    """The body that the API takes. The controls keep what was sent.

    :raises Invalid: for texts beside pickers that can name no object
    """
    data: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for control, name in zip(form.variables, variables, strict=True):
        try:
            data[name] = _sent_value(request, control)
        except colander.Invalid as error:
            errors[name] = errors_of(error)
    options = {control.name: _sent_value(request, control) for control in form.options}
    if errors:
        raise Invalid({"errors": errors})
    body: dict[str, Any] = {"data": data, "commit": options.get("commit", False)}
    if "task_queue" in options:
        body["task_queue"] = options["task_queue"]
    if "interval" in options:
        body["schedule"] = {name: options[name] or None for name in SCHEDULE}
    return body


def _sent_value(request: Request, control: Control) -> Any:
    if control.kind == "file":
        upload = form_of(request).get(control.name)
        return upload if isinstance(upload, Upload) and upload.name else None
    texts = [text for text in form_of(request).getall(control.name) if isinstance(text, str)]
    control.values = [text for text in texts if text]
    if control.kind == "picker":
        return _sent_objects(request, control)
    if control.kind == "checkbox":
        control.values = ["true" if texts else "false"]
        return bool(texts)
    if control.multiple:
        return [text for text in texts if text]
    return texts[-1] if texts else ""


def _sent_objects(request: Request, control: Control) -> Any:
    """The references to the objects of a picker: those that were chosen, and those in the text box beside it."""
    control.typed = form_text(request, f"{pickers.TEXT_PREFIX}{control.name}")
    references = pickers.typed_references(control, control.typed)
    if control.multiple:
        return [*control.values, *references]
    return references[0] if references else control.value


def _add_errors(form: RunForm, body: Any) -> None:
    """Puts the messages of an error's body to their controls."""
    by_name = {control.name: control for control in form.controls}
    members = dict(body) if isinstance(body, Mapping) else {"": body}
    of_variables = members.pop("errors", {})
    of_schedule = members.pop("schedule", {})
    named = [(f"{PREFIX}{name}", messages) for name, messages in _pairs(of_variables)]
    for name, messages in [*named, *_pairs(of_schedule), *members.items()]:
        if name in by_name:
            by_name[name].errors = [error_text(messages)]
        else:
            form.errors.append(error_text(messages))


def _pairs(errors: Any) -> list[tuple[str, Any]]:
    return list(errors.items()) if isinstance(errors, Mapping) else [("", errors)]
