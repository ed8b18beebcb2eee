"""Forms of the browsable API: an input for each field that OPTIONS describes, and the body that they stand for.

The inputs are those of the pages' forms, named as the API names the fields. A form that is posted becomes the JSON of a
request: POST sends what was entered, PATCH what differs from the object, PUT everything.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http.methods import PERMISSIONS
from netinv_core.http.serialization import dumps
from netinv_web.forms import form as forms
from netinv_web.forms.control_values import fill, member
from netinv_web.forms.controls import Control, controls_of
from netinv_web.forms.form import Form, Submission
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

IMAGE_HELP = "The image as a data: address. The address that is shown keeps it."


@dataclasses.dataclass(frozen=True)
class ApiForm:
    """A form of a list or of an object with the methods that it can send."""

    form: Form
    methods: Sequence[str]


def form_for(
    request: Request, endpoint: Endpoint, key: Any, methods: Sequence[str], names: Sequence[str]
) -> ApiForm | None:
    """The form of a list, or with ``key`` of an object, with inputs for the fields in ``names``; ``None`` without any.

    :raises NotFound: for an object that the user may not view
    """
    usable = [name for name in methods if name in (("POST",) if key is None else ("PUT", "PATCH"))]
    if not usable or not names:
        return None
    form, original = _empty(request.uow, endpoint, names), _original(request.uow, endpoint, key)
    for control in form.controls:
        fill(control, member(original, control.path))
    forms.complete(request.uow, form)
    return ApiForm(form, usable)


def _empty(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> Form:
    fields = [field for name, field in endpoint.writable.items() if name in names]
    return Form(
        [("Fields", [_api_control(control) for field in fields for control in controls_of(uow, endpoint, field)])]
    )


def _api_control(control: Control) -> Control:
    """The control as the API names and takes its value: in JSON, without files."""
    if control.kind == "conditions":
        control = Control(control.name, "", "json", help=control.help, required=control.required, field=control.field)
    elif control.kind == "file":
        control = Control(
            control.name,
            "",
            help=IMAGE_HELP,
            show=lambda value: [str(value)],
            read=lambda texts: texts[-1] if texts else None,
        )
    return dataclasses.replace(control, label=control.name, group="")


def _original(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> Mapping[str, Any]:
    return forms.defaults(endpoint) if key is None else forms.read_object(uow, endpoint, key)


def resource_at(registry: Registry, path: str) -> tuple[Endpoint, Any] | None:
    """The resource of a path of the API, and the id of its object or ``None`` for the list; ``None`` for other
    paths.
    """
    path = path.partition("?")[0]
    for endpoint in registry.by_path.values():
        if path == endpoint.path:
            return endpoint, None
        if path.startswith(endpoint.path) and path.endswith("/"):
            key = endpoint.parse_key(path.removeprefix(endpoint.path)[:-1])
            return None if key is None else (endpoint, key)
    return None


class Composition:
    """The body of a request, composed from a posted form; with ``form`` as it was filled in."""

    def __init__(self, request: Request, path: str, method: str, members: Mapping[str, Sequence[Any]]) -> None:
        self.body = "{}"
        self.form: ApiForm | None = None
        self.failed = False
        place = resource_at(request.registry.netinv, path)
        if place is None or method not in PERMISSIONS or not may(request.uow, place[0], PERMISSIONS[method]):
            return
        self._compose(request, *place, method, members)

    def _compose(
        self, request: Request, endpoint: Endpoint, key: Any, method: str, members: Mapping[str, Sequence[Any]]
    ) -> None:
        names = [name.partition(".")[0] for name in forms.last_text(members, forms.CONTROLS).split(",")]
        empty = _empty(request.uow, endpoint, names)
        submission = Submission(request, endpoint, _original(request.uow, endpoint, key), members, form=empty)
        try:
            body = submission.body(new=method == "POST", whole=method == "PUT")
            self.body = json.dumps(json.loads(dumps(body)), indent=2, ensure_ascii=False)
        except Invalid as invalid:
            self.failed = True
            forms.add_errors(empty, invalid.body)
        submission.forget_secrets()
        forms.complete(request.uow, empty)
        self.form = ApiForm(empty, ["POST"] if key is None else ["PUT", "PATCH"])

    def show_errors(self, body: Any) -> None:
        """Puts the errors of the API's answer to the inputs."""
        if self.form is not None:
            forms.add_errors(self.form.form, body)
