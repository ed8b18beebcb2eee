"""Plans of endpoints by shape, which the registry keeps."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.caches import BoundedCache
from netinv_core.presentation import NAME_IN_CONTEXT, NAME_WITHIN
from netinv_core.registry_cache import cached_in_registry
from netinv_core.sql.plan import ReadPlan, fetch_together

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader
    from netinv_core.sql.relations import Visible
    from netinv_core.uow import UnitOfWork

MAX_PLAN_TABLES = 1000  # of plans for a part of the fields, of 40 KiB each


def plan_of(endpoint: Endpoint, shape: str = "full", without: frozenset[str] | None = None) -> ReadPlan:
    """The plan for ``full``, ``brief``, ``nested``, ``assigned``, ``name_in_context`` or ``name_within``;
    ``without`` names fields of the full form to leave out, by default those that tell of other objects.
    """
    if without is None and shape == "full":
        without = endpoint.derived
    if without:
        return _custom_plans(endpoint.registry).get_or_make(
            (endpoint, without), lambda: new_plan(endpoint, "full", without)
        )
    return _plan(endpoint, shape)


@cached_in_registry
def _custom_plans(registry: Registry) -> BoundedCache[ReadPlan]:
    """Plans without some fields, and those of :func:`custom_plan`."""
    return BoundedCache("plans", MAX_PLAN_TABLES, lambda plan: plan.tables)


@cached_in_registry
def _plan(endpoint: Endpoint, shape: str) -> ReadPlan:
    return new_plan(endpoint, shape)


def new_plan(endpoint: Endpoint, shape: str, without: frozenset[str] = frozenset()) -> ReadPlan:
    """Compiles a plan, which is not kept; the parameters are those of :func:`plan_of`."""
    plan = ReadPlan(endpoint.registry, endpoint)
    if shape == "nested":
        return plan.finish_nested()
    if shape == "assigned":
        assigned = endpoint.resource.assigned_fields
        return plan.finish_nested(beside=[item.make(endpoint.registry, endpoint) for item in assigned])
    if shape in (NAME_IN_CONTEXT, NAME_WITHIN):
        return plan.finish_with(functools.partial(_link_reader, shape))
    if shape == "brief":
        return plan.finish(endpoint.brief_fields, brief=bool(endpoint.brief))
    return plan.finish([field for name, field in endpoint.fields.items() if name not in without], without=without)


def _link_reader(name: str, plan: ReadPlan, place: JoinedTable) -> Reader:
    """Reader of what a link to an object needs: its name as ``display``, id, URL, and colour if it has
    one.
    """
    color = ["color"] if "color" in place.table.c else []
    paths = {"display": name, **{name: name for name in ("id", "url", *color)}}
    readers = [(name, plan.read(place, path)) for name, path in paths.items()]
    return lambda row, page: {name: read(row, page) for name, read in readers}


def custom_plan(endpoint: Endpoint, key: Any, build: Callable[[ReadPlan, JoinedTable], Any]) -> ReadPlan:
    """The plan that ``build`` completes (:meth:`ReadPlan.finish_with`), from the cache by ``key``."""
    return _custom_plans(endpoint.registry).get_or_make(
        (endpoint, key), lambda: ReadPlan(endpoint.registry, endpoint).finish_with(build)
    )


def named_objects(
    uow: UnitOfWork,
    shape: str,
    pairs: Iterable[tuple[Any, Any]],
    visible: Visible | None = None,
    plan: Callable[[Endpoint, str], ReadPlan] = plan_of,
) -> dict[Any, Any]:
    """Returns the representations of objects by pairs of label and id, in one statement.

    Objects of packages that are not installed, and those that are not ``visible``, are omitted. ``plan`` gives the one
    of a resource for the shape.
    """
    keys_by_label: dict[str, set[Any]] = {}
    for label, key in pairs:
        if label and key is not None:
            keys_by_label.setdefault(label, set()).add(key)
    endpoints = {label: uow.registry.get(label) for label in sorted(keys_by_label)}
    targets = {label: target for label, target in endpoints.items() if target and target.key_type is uuid.UUID}
    requests = [(plan(target, shape), list(keys_by_label[label])) for label, target in targets.items()]
    results = fetch_together(uow, requests, visible)
    return {(label, key): item for label, items in zip(targets, results, strict=True) for key, item in items}
