"""The page ``/dcim/cables/connect/``: begins at a port, shows the ports of another device beside it, and connects them.

It is the form for new cables, too. Without scripts each choice of a device is a step by GET that carries everything
else along. *Connect and next* goes on with the next free ports of both sides, *Connect and go on* at the other side of
the panel that was reached.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Invalid
from netinv_core.fields import Status
from netinv_core.http import multipart
from netinv_core.write import references, save
from netinv_dcim.cabling.cables import SIDES
from netinv_dcim.cabling.fitting import model_of
from netinv_dcim.cabling.models import PathEnd
from netinv_dcim.cabling.paths import CONNECTED, End
from netinv_dcim.web.connect import ports, sides
from netinv_dcim.web.connect.answers import answer, controls_in_order, in_order
from netinv_dcim.web.connect.ports import ConnectablePort
from netinv_dcim.web.connect.sides import ConnectSide, last_of, sides_of
from netinv_web import notices
from netinv_web.forms import form as forms
from netinv_web.forms.controls import Members
from netinv_web.forms.form import Submission
from netinv_web.pages import see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PATH, ADD = "/dcim/cables/connect/", "/dcim/cables/add/"
THEN = "_then"  # the button: what follows
NEXT, ON = "next", "on"
_NUMBER = re.compile(r"\d+(?=\D*\Z)")


def show(request: Request) -> Response:
    """The page; a POST connects the chosen ports."""
    uow, endpoint = request.uow, request.context.endpoint
    if request.method == "POST":
        return _connect(request, endpoint, multipart.members_of(request, endpoint))
    both = sides_of(uow, uow.query)
    original = forms.defaults(endpoint) | preset(uow, endpoint)
    submission = Submission(request, endpoint, original, uow.query, _names(endpoint))
    return _show(request, endpoint, both, submission, uow.query)


def _names(endpoint: Endpoint) -> list[str]:
    """The fields of the form: all but the ends."""
    return in_order([name for name in forms.writable_fields(endpoint) if not name.startswith(SIDES)])


def preset(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """The status of a new cable."""
    field = endpoint.fields["status"]
    assert isinstance(field, Status)
    statuses = references.statuses_for(uow, field, endpoint)
    return {"status": CONNECTED} if any(slug == CONNECTED for slug, _ in statuses) else {}


def _show(
    request: Request,
    endpoint: Endpoint,
    both: Mapping[str, ConnectSide],
    submission: Submission,
    members: Members,
    *,
    refused: bool = False,
) -> Response:
    uow, form = request.uow, submission.form
    forms.complete(uow, form)
    waiting = sides.initial_ports(uow, members)[1:]
    values = {
        "endpoint": endpoint,
        "sides": list(both.values()),
        "form": form,
        "controls": controls_in_order(form.controls),
        "waiting": [ports.address_of(end) for end in waiting],
        "passes": any(_passes(uow, group.label) and group.label in both["b"].fitting for group in both["b"].groups),
        "path": PATH,
    }
    refused = refused or any(side.errors and not side.matches for side in both.values())
    return answer(request, "connect", "connect.js", values, refused=refused)


def _passes(uow: UnitOfWork, label: str) -> bool:
    """True for ports that paths lead through."""
    return not issubclass(model_of(uow.registry, label), PathEnd)


# -- connecting


def _connect(request: Request, endpoint: Endpoint, members: Members) -> Response:
    """Creates the cable, and leads to what the button says."""
    uow = request.uow
    both = sides_of(uow, members)
    submission = Submission(request, endpoint, forms.defaults(endpoint), members, _names(endpoint))
    _check(both, members)
    try:
        body = submission.body(new=True)
    except Invalid as error:
        return _show_errors(request, endpoint, both, submission, members, error.body)
    if any(side.errors for side in both.values()):
        return _show_errors(request, endpoint, both, submission, members, {})
    chosen = {name: side.chosen for name, side in both.items() if side.chosen is not None}
    for name, port in chosen.items():
        body |= {f"termination_{name}_type": port.end.label, f"termination_{name}_id": str(port.end.id)}
    try:
        created = save.create(uow, endpoint, [body], single=True)[0]
    except (Invalid, Conflict) as error:
        return _show_errors(request, endpoint, both, submission, members, error.body)
    text = f"{chosen['a'].full_name} is connected to {chosen['b'].full_name}."
    path = object_path(endpoint, created["id"])
    notice = notices.Notice(text, undo=str(uow.request_id), link=path, link_text="Open the cable")
    return notices.add(request, see_other(_next_page(uow, both, chosen, submission, members)), notice)


def _check(both: Mapping[str, ConnectSide], members: Members) -> None:
    """Adds errors for sides without a port, and for chosen ports that do not fit."""
    for name, side in both.items():
        if side.errors:
            continue
        if side.host is None:
            side.errors.append("Choose a device.")
        elif not last_of(members, name) or side.chosen is None:
            side.errors.append("Choose a port.")
        elif reason := side.reasons[side.chosen.end]:
            side.errors.append(f"{side.chosen.name}: {reason}.")


def _show_errors(
    request: Request,
    endpoint: Endpoint,
    both: Mapping[str, ConnectSide],
    submission: Submission,
    members: Members,
    body: Any,
) -> Response:
    """The page with the errors at their places."""
    if isinstance(body, Mapping):
        of_sides = {name: messages for name, messages in body.items() if name.startswith(SIDES)}
        for name, messages in of_sides.items():
            both["a" if name.startswith(SIDES[0]) else "b"].errors.append(forms.readable(messages))
        body = {name: messages for name, messages in body.items() if name not in of_sides}
    submission.forget_secrets()
    forms.add_errors(submission.form, body)
    return _show(request, endpoint, both, submission, members, refused=True)


# -- what follows


def _next_page(
    uow: UnitOfWork,
    both: Mapping[str, ConnectSide],
    chosen: Mapping[str, ConnectablePort],
    submission: Submission,
    members: Members,
) -> str:
    """The page that follows a new cable: that of the port, or this one with the next ports."""
    step, kept = last_of(members, THEN), _kept_fields(submission)
    a, b = both["a"], both["b"]
    waiting = [ports.address_of(end) for end in sides.initial_ports(uow, members)[1:]]
    if step == ON and (beyond := _beyond(uow, b, chosen["b"])) is not None:
        return _address([("a", beyond.address), *(("then", text) for text in waiting), *kept])
    if step == NEXT:
        own = [("a", waiting[0])] if waiting else _further(a, chosen["a"])
        return _address([*own, *(("then", text) for text in waiting[1:]), *_further(b, chosen["b"]), *kept])
    end = chosen["a"].end
    return object_path(uow.registry[end.label], end.id)


def _further(side: ConnectSide, port: ConnectablePort) -> list[tuple[str, str]]:
    """The parameters that offer the next free port of the same host."""
    return [
        (f"{side.name}_in", port.host.end.label),
        (f"{side.name}_of", str(port.host.end.id)),
        (f"{side.name}_after", port.address),
    ]


def _beyond(uow: UnitOfWork, side: ConnectSide, port: ConnectablePort) -> ConnectablePort | None:
    """The first free port on the other side of the panel of a port."""
    hops: Sequence[Any] = model_of(uow.registry, port.end.label).next_hops(uow, [port.end.id]).get(port.end.id, ())
    found = (side.port(End(hop.label, hop.id)) for hop in hops)
    return next((other for other in found if other is not None and other.cable is None), None)


def _kept_fields(submission: Submission) -> list[tuple[str, str]]:
    """The fields of a cable that the next one has too; the last number of a label counts on."""
    return [
        (control.name, _next_label(text) if control.name == "label" else text)
        for control in submission.form.controls
        for text in control.values
        if control.kind not in ("file", "password")
    ]


def _next_label(label: str) -> str:
    """The label that follows: ``A-009`` → ``A-010``; one without a number is not repeated."""
    if not _NUMBER.search(label):
        return ""
    return _NUMBER.sub(lambda found: str(int(found[0]) + 1).zfill(len(found[0])), label)


def _address(pairs: Sequence[tuple[str, str]]) -> str:
    return f"{PATH}?{urlencode([pair for pair in pairs if pair[1]])}"


def connect_path(endpoint: Endpoint, item: Mapping[str, Any]) -> str:
    """The path of the page that connects a port."""
    return f"{PATH}?{urlencode({'a': ports.address_of(End(endpoint.label, item['id']))})}"


def includeme(config: Any) -> None:
    """Adds the page, also in the place of the form for new cables."""
    for path in (PATH, ADD):
        config.add_netinv_page(path, show, permission="add", methods=["GET", "POST"], resource="dcim/cables")
