"""The page ``/dcim/cabling/``: ports of two sides, pairs of them as a plan, and the request that connects them all.

Every step is a link or a form by GET that the server answers with the plan in the address. What is typed is carried
along. A POST creates the cables of the plan in one transaction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Conflict, Denied, Invalid
from netinv_core.http import multipart
from netinv_core.labels import title_of
from netinv_core.write import save
from netinv_dcim.cabling.cables import SIDES as ENDS
from netinv_dcim.cabling.paths import End
from netinv_dcim.web.connect import hosts, ports
from netinv_dcim.web.connect.answers import answer, controls_in_order
from netinv_dcim.web.connect.page import preset
from netinv_dcim.web.connect.ports import ConnectablePort, PortHost
from netinv_dcim.web.workbench.pairing import PAIRINGS
from netinv_dcim.web.workbench.plan import (
    LABEL,
    MAX_PAIRS,
    ONLY,
    PAIR,
    SIDES,
    Bench,
    Pair,
    benches_of,
    bodies_of,
    label_pairs,
    pair_text,
    pairs_of,
    try_out,
)
from netinv_web import notices
from netinv_web.forms import form as forms
from netinv_web.forms import pickers
from netinv_web.forms.controls import Control
from netinv_web.forms.deletion import trial
from netinv_web.forms.form import Submission
from netinv_web.lists.list_query import ListQuery, query_of
from netinv_web.menu import may
from netinv_web.pages import see_other

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PATH = "/dcim/cabling/"
PAIRING, LEFT, RIGHT, ADD = "_pairing", "_left", "_right", "_add_"  # members of one step


@dataclasses.dataclass
class Adding:
    """The form that adds a host to a side."""

    kind: str
    kinds: Sequence[tuple[str, str]]
    picker: Control
    error: str = ""
    matches: Sequence[PortHost] = ()
    host: End | None = None


def show(request: Request) -> Response:
    """The page; a POST connects the pairs."""
    uow, endpoint = request.uow, request.context.endpoint
    query = _query(request, endpoint)
    adding = {name: _host_form(uow, query, name) for name in SIDES}
    plain = _plain(query)
    for name, form in adding.items():
        if form.host is not None:
            texts = [*plain.values(name), ports.address_of(form.host)]
            plain = plain.with_values(name, list(dict.fromkeys(texts)))
    benches = benches_of(uow, plain)
    if request.method != "POST":
        following = _apply_step(uow, query, plain, benches)
        if following != plain or any(form.host is not None for form in adding.values()):
            return see_other(following.url)
    pairs = pairs_of(uow, plain, benches)
    if pairs and not may(uow, endpoint, "add"):
        raise Denied(missing=(endpoint.label, "add"))
    submission = _submission(request, endpoint, plain)
    error = label_pairs(pairs, _last(plain, LABEL))
    if request.method == "POST":
        return _apply(request, endpoint, plain, benches, pairs, submission, error, adding)
    if pairs and not error:
        _try(request, endpoint, pairs, submission)
    return _show(request, endpoint, plain, benches, pairs, submission, error, adding)


def _query(request: Request, endpoint: Endpoint) -> ListQuery:
    """The parameters of the address, or of the posted form."""
    if request.method != "POST":
        return query_of(request)
    members = multipart.members_of(request, endpoint)
    pairs = ((name, value) for name, values in members.items() for value in values)
    return ListQuery(PATH, tuple((name, value) for name, value in pairs if isinstance(value, str) and value))


def _plain(query: ListQuery) -> ListQuery:
    """The query without what is for one step."""
    return dataclasses.replace(
        query, path=PATH, pairs=tuple(pair for pair in query.pairs if not pair[0].startswith("_") and pair[0] != "pk")
    )


def _last(query: ListQuery, name: str) -> str:
    return next(reversed(query.values(name)), "")


def _host_form(uow: UnitOfWork, query: ListQuery, name: str) -> Adding:
    """The form that adds a host, with the host that was sent by it."""
    kinds = ports.hosts_by_label(uow.registry)
    kind = _last(query, f"_in_{name}") or next(iter(kinds))
    if kind not in kinds:
        raise Invalid({f"_in_{name}": [f'"{kind[:100]}" is not a valid choice. Choices are {", ".join(kinds)}.']})
    control = Control(f"{ADD}{name}", title_of(kinds[kind]), "picker", target=kinds[kind])
    form = Adding(kind, [(label, title_of(host)) for label, host in kinds.items()], control)
    text = _last(query, f"{pickers.TEXT_PREFIX}{ADD}{name}").strip() or _last(query, f"{ADD}{name}")
    if text and _last(query, f"_was_{name}") in ("", kind):
        found = hosts.find(uow, kind, text)
        form.host, form.error, form.matches = found.end, found.error, found.matches
    return form


def _apply_step(uow: UnitOfWork, query: ListQuery, plain: ListQuery, benches: Mapping[str, Bench]) -> ListQuery:
    """The plan after the step that a form asks for: a way to pair, or a pair of chosen ports.

    :raises Invalid: for a way that does not exist
    """
    way = _last(query, PAIRING)
    if way:
        if way not in PAIRINGS:
            raise Invalid({PAIRING: [f'"{way[:100]}" is not a valid choice. Choices are {", ".join(PAIRINGS)}.']})
        chosen = list(PAIRINGS[way][1](*(_free(uow, bench) for bench in benches.values())))[:MAX_PAIRS]
        return plain.with_values(PAIR, [pair_text(left, right) for left, right in chosen])
    left, right = _last(query, LEFT), _last(query, RIGHT)
    if left and right:
        return plain.with_values(PAIR, list(dict.fromkeys([*plain.values(PAIR), f"{left}-{right}"])))
    return plain


def _of_kind(bench: Bench) -> list[ConnectablePort]:
    return [port for host in bench.hosts for port in bench.ports_to_show(host)]


def _free(uow: UnitOfWork, bench: Bench) -> list[ConnectablePort]:
    return [port for port in _of_kind(bench) if not ports.reason(uow.registry, port)]


def _submission(request: Request, endpoint: Endpoint, plain: ListQuery) -> Submission:
    """The controls for the cables: their fields without ends and labels."""
    writable = forms.writable_fields(endpoint)
    names = [name for name in writable if not name.startswith(ENDS) and name != LABEL]
    members = {name: plain.values(name) for name, _ in plain.pairs}
    if not any(name in members for name in names):
        members |= {name: [str(value)] for name, value in preset(request.uow, endpoint).items()}
    return Submission(request, endpoint, forms.defaults(endpoint), members, names)


def _body(submission: Submission) -> dict[str, Any] | None:
    """The fields that all cables have; ``None`` when a text cannot be converted."""
    try:
        return submission.body(new=True)
    except Invalid as error:
        forms.add_errors(submission.form, error.body)
        return None


def _try(request: Request, endpoint: Endpoint, pairs: Sequence[Pair], submission: Submission) -> None:
    body = _body(submission)
    if body is not None:
        with trial(request) as uow:
            try_out(uow, endpoint, pairs, body)


def _apply(
    request: Request,
    endpoint: Endpoint,
    plain: ListQuery,
    benches: Mapping[str, Bench],
    pairs: list[Pair],
    submission: Submission,
    error: str,
    adding: Mapping[str, Adding],
) -> Response:
    """Creates all cables of the plan; a refused one leaves all undone, and says why at its pair."""
    uow = request.uow
    body = _body(submission)
    if not pairs and not error:
        error = "Pair ports first."
    if not error and body is not None and not any(pair.errors for pair in pairs):
        try:
            with uow.savepoint():
                save.create(uow, endpoint, bodies_of(pairs, body))
        except (Invalid, Conflict):
            try_out(uow, endpoint, pairs, body)
        else:
            count = "1 cable was" if len(pairs) == 1 else f"{len(pairs)} cables were"
            notice = notices.Notice(f"{count} created.", undo=str(uow.request_id))
            return notices.add(request, see_other(plain.without(PAIR, LABEL).url), notice)
    request.tm.doom()
    return _show(request, endpoint, plain, benches, pairs, submission, error, adding, refused=True)


def _show(
    request: Request,
    endpoint: Endpoint,
    plain: ListQuery,
    benches: Mapping[str, Bench],
    pairs: Sequence[Pair],
    submission: Submission,
    error: str,
    adding: Mapping[str, Adding],
    *,
    refused: bool = False,
) -> Response:
    uow = request.uow
    form = submission.form
    forms.complete(uow, form)
    pickers.complete(uow, [item.picker for item in adding.values()])
    for item in adding.values():
        item.picker.may_add = False
    partners = {port.end: other.name for pair in pairs for port, other in _both(pair)}
    values = {
        "endpoint": request.context.endpoint,
        "query": plain,
        "benches": list(benches.values()),
        "reasons": {
            port.end: ports.reason(uow.registry, port) for bench in benches.values() for port in _of_kind(bench)
        },
        "partners": partners,
        "pairs": [(pair, _without_pair(plain, pair)) for pair in pairs],
        "faulty": bool(error) or any(pair.errors for pair in pairs) or any(item.errors for item in form.controls),
        "pairings": [(name, title) for name, (title, _) in PAIRINGS.items()],
        "controls": controls_in_order(form.controls),
        "form": form,
        "label": _last(plain, LABEL),
        "label_error": error,
        "faulty_label": [Control(LABEL, "Label", "text", errors=[error])] if error and pairs else [],
        "refusals": _refusals(pairs, error),
        "adding": adding,
        "may_add": may(uow, endpoint, "add"),
        "may_delete": may(uow, endpoint, "delete"),
        "removals": {host.end: _without_host(plain, bench, host) for bench in benches.values() for host in bench.hosts},
        "kind_urls": {
            (bench.name, label): plain.without(PAIR).with_values(f"{bench.name}_kind", [label]).url
            for bench in benches.values()
            for label in bench.kinds
        },
        "all_ports": {name: plain.without(f"{name}{ONLY}").url for name in SIDES},
        "path": PATH,
    }
    refused = refused or any(item.error and not item.matches for item in adding.values())
    return answer(request, "workbench", "workbench.js", values, refused=refused)


def _refusals(pairs: Sequence[Pair], error: str) -> list[str]:
    """The sentences about what is refused, but for the fields: an error where there are no pairs, and that of pairs."""
    count = sum(bool(pair.errors) for pair in pairs)
    if not pairs:
        return [error] if error else []
    verb = "is" if count == 1 else "are"
    return [f"{count} of the planned cables {verb} refused, with the reason below."] if count else []


def _both(pair: Pair) -> tuple[tuple[ConnectablePort, ConnectablePort], tuple[ConnectablePort, ConnectablePort]]:
    return (pair.left, pair.right), (pair.right, pair.left)


def _without_pair(plain: ListQuery, pair: Pair) -> str:
    """The plan without a pair."""
    return plain.with_values(PAIR, [text for text in plain.values(PAIR) if text != pair.text]).url


def _without_host(plain: ListQuery, bench: Bench, host: PortHost) -> str:
    """The plan without a host and the pairs of its ports."""
    place = SIDES.index(bench.name)
    own = {port.end.id.hex for group in bench.groups.get(host.end, ()) for port in group.ports}
    kept = [text for text in plain.values(PAIR) if text.split("-")[place] not in own]
    left = plain.with_values(PAIR, kept)
    return left.with_values(bench.name, [text for text in left.values(bench.name) if text != host.address]).url


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(PATH, show, permission="view", methods=["GET", "POST"], resource="dcim/cables")
