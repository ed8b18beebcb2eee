"""The page ``/dcim/device-types/<id>/apply/``: the plan that makes devices like their type, with choices and a button.

Rows with one kind, name and state are shown together, with a choice for all of their devices. ``?device=<id>`` limits
the page to a device. Many components are written in the background.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import RequestError, TooLarge
from netinv_core.http.views import key_of
from netinv_core.labels import label_of, title_of
from netinv_core.write.dry_run import dry_run
from netinv_dcim.components import type_application
from netinv_dcim.components.apply_type import plan_for, read_choices
from netinv_dcim.components.differences import ADDITIONAL, DIFFERENT, MISSING
from netinv_dcim.components.former_names import former_names
from netinv_dcim.components.kinds import KINDS, ComponentKind
from netinv_dcim.components.type_plans import ACTIONS, APPLY, KEEP, RENAME, PlanRow, TypePlan
from netinv_dcim.device_types import DeviceType
from netinv_dcim.devices import Device
from netinv_dcim.web.type_differences import value_markup
from netinv_web import notices, runs
from netinv_web.background import Arguments, BackgroundTask, Progress, background_of
from netinv_web.bulk.preview import messages_of_refusal
from netinv_web.bulk.selection import members_of, step_of
from netinv_web.forms.deletion import trial
from netinv_web.objects import details
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path, page_path
from netinv_web.runs import Words

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

TEMPLATE = "netinv_dcim:web/templates/type_application.jinja2"
PATH = "/dcim/device-types/{id}/apply/"
DEVICE, CHOICE, DIGEST = "device", "choice", "digest"  # parameter, and members of the form
STEP_APPLY = "apply"
MAX_TRIED = 1000  # rows that the page writes in a dry run
MAX_GROUPS, MAX_DEVICES, MAX_OFFERED = 500, 20, 50  # groups, devices named in each, names offered in each
INVALID, CONFLICT = 422, 409  # HTTP statuses
OUTDATED = "The choices or the devices have changed since the plan was shown. This is the plan now."
WORDS = {"add": "added", "change": "changed", "rename": "renamed", "remove": "removed", "keep": "kept"}
Given = Mapping[str, str]  # the choices of the form, by the name of their member


@dataclasses.dataclass(frozen=True)
class PlanGroup:
    """The rows of a plan with one kind, name and state, as the page shows them.

    ``member`` is the name of the choice in the form, ``chosen`` its value, ``offered`` its values with their texts.
    """

    member: str
    name: str
    kind: str
    state: str
    actions: Sequence[str]
    fields: Sequence[Any]
    users: str
    chosen: str
    offered: Mapping[str, str]
    devices: Sequence[tuple[str, str, str]]
    hidden: int


def show(request: Request) -> Response:
    """The page with the plan; POST shows that of other choices, or applies it."""
    uow, endpoint, key = request.uow, request.context.endpoint, key_of(request)
    item, cells = details.read_object(request, endpoint, key)
    members = members_of(request)
    given = _parse_choices(members) if request.method == "POST" else None
    devices = uow.query.get(DEVICE) or None
    values = details.object_values(request, endpoint, item, None, cells)
    applying = step_of(members) == STEP_APPLY
    try:
        if given is None:
            given = _propose_renames(uow, plan_for(uow, key, devices, [], locked=False))
        plan = plan_for(uow, key, devices, read_choices(uow, choices_of(given)), locked=applying)
    except TooLarge as error:
        return page(request, TEMPLATE, {**values, "problems": [error.body["detail"]], "plan": None}, INVALID)
    problems, status = [], 200
    if applying and members.get(DIGEST, [""])[-1] != digest_of(plan):
        problems, status = [OUTDATED], CONFLICT
    elif applying:
        answer = _apply(request, endpoint, key, devices, given, plan)
        if isinstance(answer, Response):
            return answer
        problems, status = answer, INVALID
    else:
        problems = _try_plan(request, plan)
    if request.method == "POST":
        request.tm.doom()
    values |= {"plan": plan, "problems": problems, "refused": status == INVALID or bool(problems and not applying)}
    return page(request, TEMPLATE, values | _template_values(uow, endpoint, key, plan, given, devices), status)


def _apply(
    request: Request, endpoint: Endpoint, key: Any, devices: Sequence[str] | None, given: Given, plan: TypePlan
) -> Response | list[str]:
    """Applies a plan, or has that done in the background; returns where that leads, or what refuses it."""
    uow, count = request.uow, count_written(plan)
    if count > uow.registry.settings["bulk_background_objects"]:
        background = background_of(uow.registry)
        arguments = {"type": str(key), "devices": devices, "choices": dict(given), "digest": digest_of(plan)}
        run = None if background is None else background.start(uow, TASK, arguments)
        if run is not None:
            return see_other(f"{object_path(endpoint, key)}apply/{run}/")
    try:
        with uow.savepoint():
            type_application.apply(uow, plan)
    except RequestError as error:
        return messages_of_refusal(error)
    following = _origin(endpoint, key, devices)
    text = "1 component was written." if count == 1 else f"{count:,} components were written."
    return notices.add(request, see_other(following), notices.Notice(text, undo=str(uow.request_id)))


def _origin(endpoint: Endpoint, key: Any, devices: Sequence[str] | None) -> str:
    """The page that a plan begins at: that of its one device, or of the device type."""
    if devices and len(devices) == 1:
        return object_path(endpoint.registry.of_model(Device), devices[0])
    return object_path(endpoint, key)


def _run(uow: UnitOfWork, arguments: Arguments, progress: Progress) -> str:
    """Applies a plan that was shown, unless it would do something else by now."""
    key = uow.registry.of_model(DeviceType).parse_key(arguments["type"])
    try:
        choices = read_choices(uow, choices_of(arguments["choices"]))
        plan = plan_for(uow, key, arguments["devices"], choices, locked=True)
        if digest_of(plan) != arguments["digest"]:
            progress.fail("The devices have changed since the plan was shown: nothing was written.")
            return ""
        total = count_written(plan)
        with uow.savepoint():
            type_application.apply(uow, plan, lambda done: progress.advance(done, total))
    except RequestError as error:
        for message in messages_of_refusal(error):
            progress.fail(message)
        return ""
    return f"{total:,} components were written."


TASK = BackgroundTask("netinv_dcim.web.type_application:TASK", "Application of a device type", _run)


def show_run(request: Request) -> Response:
    """The page of an application in the background; POST cancels it."""
    endpoint = request.context.endpoint
    path = object_path(endpoint, key_of(request))
    crumbs = (("Device types", page_path(endpoint)),)
    words = Words(
        "Application of a device type",
        "application",
        "components",
        "written",
        path,
        "Device type",
        f"{path}apply/",
        "Show the plan again",
        crumbs,
    )
    return runs.show(request, words)


def count_written(plan: TypePlan) -> int:
    """The number of components that a plan writes."""
    return sum(row.action != KEEP for row in plan.rows)


def digest_of(plan: TypePlan) -> str:
    """A digest of what a plan does."""
    rows = [
        [str(row.device), str(row.difference.component_id), str(row.template_id), row.action, sorted(row.fields)]
        for row in plan.rows
        if row.action != KEEP
    ]
    return hashlib.blake2b(json.dumps(rows).encode(), digest_size=16).hexdigest()


def _parse_choices(members: Mapping[str, Sequence[Any]]) -> Given:
    """The choices of a posted form, which are not left to the plan."""
    names = [name for name in members if name == CHOICE or name.startswith(f"{CHOICE}:")]
    texts = {name: str(members[name][-1]) for name in names}
    return {name: text for name, text in texts.items() if text}


def choices_of(given: Given) -> list[dict[str, Any]]:
    """The choices of the form as the body of the action has them; that for all components comes first.

    A member is ``choice:<kind>:<name>``; its value ``apply``, ``keep``, or ``rename:`` with the new name.
    """
    found: list[dict[str, Any]] = []
    for member, text in sorted(given.items(), key=lambda entry: entry[0] != CHOICE):
        action, _, new_name = text.partition(":")
        choice = {"action": action, **({"new_name": new_name} if action == RENAME else {})}
        if member != CHOICE:
            _, kind, name = member.split(":", 2) if member.count(":") > 1 else (member, "", "")
            choice |= {"kind": kind, "name": name}
        found.append(choice)
    return found


def member_of(registry: Registry, kind: ComponentKind, name: str) -> str:
    """The name of the choice for components in the form."""
    return f"{CHOICE}:{registry.of_model(kind.component).label}:{name}"


def _propose_renames(uow: UnitOfWork, plan: TypePlan) -> Given:
    """The renames that the page proposes: to the name of a missing component whose template had the other name."""
    missing = {(row.kind, row.difference.name): row.template_id for row in plan.rows if row.difference.state == MISSING}
    formers = former_names(uow, set(missing.values()))
    renames = {(kind, former): name for (kind, name), key in missing.items() for former in formers.get(key, ())}
    additional = {(row.kind, row.difference.name) for row in plan.rows if row.difference.state == ADDITIONAL}
    return {
        member_of(uow.registry, kind, former): f"{RENAME}:{name}"
        for (kind, former), name in renames.items()
        if (kind, former) in additional
    }


def _try_plan(request: Request, plan: TypePlan) -> list[str]:
    """The refusals of a plan, found by a dry run; none of a plan of more than :data:`MAX_TRIED` components."""
    if not 0 < count_written(plan) <= MAX_TRIED:
        return []
    beside = contextlib.nullcontext(request.uow) if request.method == "POST" else trial(request)
    try:
        with beside as uow, dry_run(uow):
            type_application.apply(uow, plan)
    except RequestError as error:
        return messages_of_refusal(error)
    return []


def _template_values(
    uow: UnitOfWork, endpoint: Endpoint, key: Any, plan: TypePlan, given: Given, devices: Sequence[str] | None
) -> dict[str, Any]:
    """The values of the template: the groups, and the numbers of actions and devices."""
    registry = uow.registry
    rows: dict[tuple[ComponentKind, str, str], list[PlanRow]] = {}
    for row in plan.rows:
        rows.setdefault((row.kind, row.difference.name, row.difference.state), []).append(row)
    chosen = sorted(rows.items(), key=lambda entry: (KINDS.index(entry[0][0]), entry[1][0].difference.state))
    missing: dict[ComponentKind, list[str]] = {}
    for (kind, name, state), _ in chosen:
        if state == MISSING:
            missing.setdefault(kind, []).append(name)
    names = type_application.displays(uow, {row.device for row in plan.rows})
    groups = [_group(registry, *group, missing, given, names) for group in chosen[:MAX_GROUPS]]
    counts = plan.counts
    return {
        "groups": groups,
        "hidden": max(0, len(chosen) - MAX_GROUPS),
        "counts": [(counts[action], WORDS[action]) for action in ACTIONS if counts[action]],
        "device_count": len(names),
        "written": count_written(plan),
        "digest": digest_of(plan),
        "for_all": given.get(CHOICE, ""),
        "for_device": names.get(plan.rows[0].device) if devices and len(devices) == 1 and plan.rows else None,
        "named": len(devices or ()),
        "apply_path": f"{object_path(endpoint, key)}apply/",
        "cancel": _origin(endpoint, key, devices),
    }


def _group(
    registry: Registry,
    place: tuple[ComponentKind, str, str],
    rows: Sequence[PlanRow],
    missing: Mapping[ComponentKind, Sequence[str]],
    given: Given,
    names: Mapping[Any, str],
) -> PlanGroup:
    """The rows of a kind, a name and a state."""
    kind, name, state = place
    component = registry.of_model(kind.component)
    member = member_of(registry, kind, name)
    actions = Counter((row.action, row.new_name) for row in rows)
    offered = {"": "By itself", APPLY: {MISSING: "Add", DIFFERENT: "Change", ADDITIONAL: "Remove"}[state], KEEP: "Keep"}
    if state == ADDITIONAL:
        others = [*missing.get(kind, ())[:MAX_OFFERED], *(row.new_name for row in rows if row.new_name)]
        offered |= {f"{RENAME}:{other}": f"Rename to {other}" for other in others}
    fields = {
        (label_of(component.fields[field]), *(value_markup(component, field, value) for value in values))
        for row in rows
        for field, values in row.fields.items()
    }
    users = sorted({title_of(registry[label]) for row in rows for label in row.used_by})
    shown = [(object_path(registry.of_model(Device), row.device), names[row.device], str(row.device)) for row in rows]
    return PlanGroup(
        member,
        name,
        title_of(component),
        state.capitalize(),
        [_outcome(action, new_name, count, len(rows)) for (action, new_name), count in actions.items()],
        sorted(fields)[:5],
        ", ".join(users),
        given.get(member, ""),
        offered,
        shown[:MAX_DEVICES],
        max(0, len(shown) - MAX_DEVICES),
    )


def _outcome(action: str, new_name: str | None, count: int, total: int) -> str:
    """The words for an action and the number of devices that have it: “added”, “renamed to et-0 on 3”."""
    words = WORDS[action] + (f" to {new_name}" if new_name else "")
    return words if count == total else f"{words} on {count:,}"


def includeme(config: Any) -> None:
    """Adds the pages."""
    options = {"permission": "view", "methods": ["GET", "POST"], "resource": "dcim/device-types"}
    config.add_netinv_page(PATH, show, **options)
    config.add_netinv_page(f"{PATH}{{run}}/", show_run, **options)
