"""Pages that split, merge and move prefixes: a choice, the plan with its numbers and refusals, and the button."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Invalid, NotFound, RequestError
from netinv_core.hookspecs import hookimpl
from netinv_core.http.views import key_of
from netinv_core.write.dry_run import dry_run
from netinv_ipam import merging, moving, splitting
from netinv_ipam.prefix_locks import locked
from netinv_ipam.prefixes import Prefix
from netinv_ipam.reshaping import Item, ReshapingPlan
from netinv_ipam.reshaping_actions import MERGE, MOVE, SPLIT, Reshaping
from netinv_ipam.web import tree
from netinv_web import notices
from netinv_web.bulk.preview import messages_of_refusal
from netinv_web.extensions import Action
from netinv_web.forms.deletion import trial
from netinv_web.objects import details
from netinv_web.pages import form_of, page, query_text, see_other
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_ipam:web/templates/reshape.jinja2"
MAX_TRIED = 1000  # objects that the page writes in a dry run
MAX_PROBLEMS = 10  # of one attempt that the page lists
INVALID, CONFLICT = 422, 409  # HTTP statuses
DIGEST = "_digest"  # member of the form: what the plan did that was shown
OUTDATED = "another choice was made, or the prefixes have changed, since the plan was shown."
NO_SPLIT = "This prefix cannot be split: the parts of each length exist already, or it is a single address."
NO_MERGE = "This prefix cannot be merged yet: each prefix of its length has to exist once in the wider network."


@dataclasses.dataclass(frozen=True)
class ReshapingOperation:
    """A change of the structure on its page: its words, and the values of its parameter with their names.

    ``workable`` are those of them that are offered, by default all. ``nothing`` is said when there are none.
    ``given`` turns such a value into what the body of the API's action has.
    """

    reshaping: Reshaping
    title: str
    label: str
    choices: Callable[[UnitOfWork, Item], Mapping[str, str]]
    nothing: str
    workable: Callable[[UnitOfWork, Endpoint, Item], Sequence[int]] | None = None
    given: Callable[[str], Any] = int
    preselected: bool = True

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.reshaping.name

    @property
    def parameter(self) -> str:
        """The name of the value in the query and the form."""
        return self.reshaping.parameter

    def offered(self, uow: UnitOfWork, endpoint: Endpoint, item: Item) -> Mapping[str, str]:
        """The choices that lead to something."""
        choices = self.choices(uow, item)
        if self.workable is None:
            return choices
        return {key: choices[key] for key in map(str, self.workable(uow, endpoint, item))}

    def plan(self, uow: UnitOfWork, endpoint: Endpoint, item: Item, value: str) -> ReshapingPlan:
        """The plan for one of the choices."""
        return self.reshaping.plan(uow, endpoint, item, self.reshaping.read(uow, item, self.given(value)))


def _lengths(lengths: Any) -> Any:
    return lambda uow, item: {str(length): f"/{length}" for length in lengths(item)}


OPERATIONS = (
    ReshapingOperation(SPLIT, "Split", "Into", _lengths(splitting.lengths), NO_SPLIT, splitting.workable),
    ReshapingOperation(MERGE, "Merge", "Into the", _lengths(merging.lengths), NO_MERGE, merging.workable),
    ReshapingOperation(
        MOVE,
        "Move to a VRF",
        "VRF",
        lambda uow, item: moving.vrf_choices(uow, item, tree.vrfs_of(uow)),
        "There is no other VRF. Add one first.",
        given=lambda value: None if value == moving.GLOBAL else value,
        preselected=False,
    ),
)


def show(request: Request, operation: ReshapingOperation) -> Response:
    """The page with the plan; a POST applies it, and leads to the prefix.

    A POST with the digest of another plan shows that of the choice, and asks again.
    """
    uow, endpoint, posted = request.uow, request.context.endpoint, request.method == "POST"
    if posted and locked(uow, endpoint, key_of(request)) is None:
        raise NotFound()
    item, cells = details.read_object(request, endpoint, key_of(request))
    choices, offered = operation.choices(uow, item), dict(operation.offered(uow, endpoint, item))
    given = form_of(request).get(operation.parameter) if posted else query_text(request, operation.parameter)
    value = str(given or (next(iter(offered or choices), "") if operation.preselected else ""))
    if value and value not in choices:
        raise Invalid({operation.parameter: [f'"{value[:100]}" is not one of the choices.']})
    plan = operation.plan(uow, endpoint, item, value) if value else None
    digest = digest_of(value, plan) if plan is not None else ""
    outdated = posted and form_of(request).get(DIGEST, digest) != digest
    if plan is not None and posted and not outdated and not plan.problems:
        try:
            return _apply(request, endpoint, plan)
        except RequestError as error:
            plan.problems += messages_of_refusal(error)[:MAX_PROBLEMS]
    elif plan is not None and not plan.problems:
        _try(request, plan)
    if posted:
        request.tm.doom()
    values = details.object_values(request, endpoint, item, None, cells)
    values |= {"operation": operation, "choices": offered, "value": value, "plan": plan}
    values |= {"digest_member": DIGEST, "digest": digest, "outdated": OUTDATED if outdated else ""}
    return page(request, TEMPLATE, values, CONFLICT if outdated else INVALID if posted else 200)


def _apply(request: Request, endpoint: Endpoint, plan: ReshapingPlan) -> Response:
    """Writes a plan, and leads to the prefix.

    :raises RequestError: for a plan that is refused
    """
    uow = request.uow
    with uow.savepoint():
        text, key = plan.apply(uow)
    notice = notices.Notice(text, undo=str(uow.request_id))
    return notices.add(request, see_other(object_path(endpoint, key)), notice)


def digest_of(value: str, plan: ReshapingPlan) -> str:
    """A digest of a choice and of what its plan does; how many prefixes and addresses its parts have is not of it."""
    told = [value, [[line.network, line.state, str(line.key or "")] for line in plan.lines], plan.notes]
    return hashlib.blake2b(json.dumps(told).encode(), digest_size=16).hexdigest()


def _try(request: Request, plan: ReshapingPlan) -> None:
    """Runs a plan without effect, and adds the reasons why it is refused."""
    if sum(line.prefixes + line.addresses for line in plan.lines) + len(plan.lines) > MAX_TRIED:
        return
    # A POST holds the lock of the prefix, for which another connection would wait.
    beside = contextlib.nullcontext(request.uow) if request.method == "POST" else trial(request)
    try:
        with beside as uow, dry_run(uow):
            plan.apply(uow)
    except RequestError as error:
        plan.problems += messages_of_refusal(error)[:MAX_PROBLEMS]


@hookimpl
def netinv_web_actions(endpoint: Endpoint) -> list[Action]:
    """The ways from the page of a prefix."""
    if endpoint.model is not Prefix:
        return []
    return [
        Action(
            operation.name,
            operation.title,
            lambda endpoint, item, name=operation.name: f"{object_path(endpoint, item['id'])}{name}/",
            permission=operation.reshaping.permission,
        )
        for operation in OPERATIONS
    ]


def includeme(config: Any) -> None:
    """Adds the pages."""
    for operation in OPERATIONS:
        config.add_netinv_page(
            f"/ipam/prefixes/{{id}}/{operation.name}/",
            functools.partial(show, operation=operation),
            permission=operation.reshaping.permission,
            methods=["GET", "POST"],
            resource="ipam/prefixes",
        )
