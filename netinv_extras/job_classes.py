"""Jobs as versions before 1.3 know them: by the paths of their classes, ``source/module/class``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.errors import Denied, NotFound
from netinv_core.http import services
from netinv_core.http.answers import body_of
from netinv_core.model import table_of
from netinv_core.read import pages
from netinv_core.registry import Endpoint
from netinv_extras import job_results, job_schedules
from netinv_extras.installed_jobs import Job, key_of
from netinv_extras.job_catalog import Found, catalog
from netinv_extras.job_requests import TAKES, shown, start
from netinv_extras.job_results import JobResult

PATH = "{source}/{module_name}/{job_class_name}"
_CLASS = {"type": "object", "additionalProperties": True}
Row = Mapping[str, Any]


def _named(context: Context, request: Request) -> Any:
    """The id of the job that the path of a class names.

    :raises NotFound: when there is none
    """
    table = table_of(Job)
    path = "/".join(request.matchdict[name] for name in ("source", "module_name", "job_class_name"))
    key = context.execute(sa.select(table.c.id).where(table.c.path == path).order_by(table.c.installed.desc(), table.c.id)).scalar()
    if key is None:
        raise NotFound()
    return key


@services.shaped(_CLASS, takes=TAKES, status=200)
def run_class(request: Request) -> Response:
    """Has a job run that is named by the path of its class; answered with the class as versions before 1.3 know it."""
    context, endpoint = services.open_item(request, ("POST",), action="run")
    key = _named(context, request)
    result, schedule = start(context, endpoint, key, body_of(request))
    (found,) = _classes(context, [pages.rows(context, endpoint, [key], "run")[key]])
    found["result"] = shown(context, job_results.LABEL, result, "full")
    if schedule is not None:
        found["schedule"] = shown(context, job_schedules.LABEL, schedule)
    return services.answer(context, request, found)


@services.shaped(_CLASS)
def show_class(request: Request) -> Response:
    """A job that is named by the path of its class, as versions before 1.3 know it."""
    context, endpoint = services.open_item(request, ("GET",))
    key = _named(context, request)
    row = pages.rows(context, endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    return services.answer(context, request, _classes(context, [row])[0])


def as_classes(context: Context, endpoint: Endpoint, keys: Sequence[Any]) -> list[dict[str, Any]]:
    """The jobs of a page as versions before 1.3 list them, in the order of their ids in ``keys``."""
    rows = pages.rows(context, endpoint, keys, "view")
    return _classes(context, [rows[key] for key in keys if key in rows])


def _classes(context: Context, rows: list[Any]) -> list[dict[str, Any]]:
    """Jobs by their classes, each with its last result: as many statements for many jobs as for one."""
    results = _last_results(context, [row["id"] for row in rows])
    known = catalog(context)
    return [_as_class(context, row, known.get(key_of(row)), results.get(row["id"])) for row in rows]


def _as_class(context: Context, row: Row, found: Found | None, result: Any) -> dict[str, Any]:
    path = row["path"]
    return {
        "url": f"{context.base}/api/extras/jobs/{path}/",
        "id": path,
        "pk": row["id"],
        "name": row["name"],
        "description": row["description"],
        "test_methods": [],
        "vars": {name: type(variable).__name__ for name, variable in found.job.variables().items()} if found is not None else {},
        "result": result,
    }


def _last_results(context: Context, keys: list[Any]) -> dict[Any, dict[str, Any]]:
    """The last result of each job that the user may view, brief, by the job's id."""
    endpoint, table = context.registry[job_results.LABEL], table_of(JobResult)
    try:
        allowed = permits.scope(context, endpoint, "view", table)
    except Denied:
        return {}
    conditions = [table.c.job_model_id.in_(keys), *([] if allowed is None else [allowed])]
    place = sa.func.row_number().over(partition_by=table.c.job_model_id, order_by=(table.c.created.desc(), table.c.id)).label("place")
    ranked = sa.select(table.c.id, table.c.job_model_id, place).where(*conditions).subquery()
    last = dict(context.execute(sa.select(ranked.c.id, ranked.c.job_model_id).where(ranked.c.place == 1)).tuples().all())
    return {last[key]: shown for key, shown in endpoint.plan("brief").fetch(context, list(last))}


def includeme(config: Any) -> None:
    """Adds the paths of classes below jobs."""
    actions = services.Actions(config.registry.netinv.of_model(Job).app)
    actions.whole("jobs", PATH, get=show_class)
    actions.whole("jobs", f"{PATH}/run", post=run_class)
    for service in actions.services:
        config.add_cornice_service(service)
