"""Jobs as versions before 1.3 know them: by the paths of their classes, ``source/module/class``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, NotFound
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.uow import UnitOfWork
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.catalog import JobClass, catalog
from netinv_extras.jobs.models import Job, key_of
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.run_views import TAKES, shown, start

PATH = "{source}/{module_name}/{job_class_name}"
_CLASS = {"type": "object", "additionalProperties": True}
Row = Mapping[str, Any]


def _named(uow: UnitOfWork, request: Request) -> Any:
    """The id of the job that the path of a class names.

    :raises NotFound: when there is none
    """
    table = table_of(Job)
    path = "/".join(request.matchdict[name] for name in ("source", "module_name", "job_class_name"))
    key = uow.execute(sa.select(table.c.id).where(table.c.path == path).order_by(table.c.installed.desc(), table.c.id)).scalar()
    if key is None:
        raise NotFound()
    return key


@documented(_CLASS, takes=TAKES, status=200)
def run_class(request: Request) -> dict[str, Any]:
    """Has a job run that is named by the path of its class; answered with the class as versions before 1.3 know it."""
    uow, endpoint = request.uow, request.context.endpoint
    key = _named(uow, request)
    result, schedule = start(uow, endpoint, key, body_of(request))
    (found,) = _classes(uow, [listing.rows(uow, endpoint, [key], "run")[key]])
    found["result"] = shown(uow, job_results.LABEL, result, "full")
    if schedule is not None:
        found["schedule"] = shown(uow, job_schedules.LABEL, schedule)
    return found


@documented(_CLASS)
def show_class(request: Request) -> dict[str, Any]:
    """A job that is named by the path of its class, as versions before 1.3 know it."""
    uow, endpoint = request.uow, request.context.endpoint
    key = _named(uow, request)
    row = listing.rows(uow, endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    return _classes(uow, [row])[0]


def as_classes(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> list[dict[str, Any]]:
    """The jobs of a page as versions before 1.3 list them, in the order of their ids in ``keys``."""
    rows = listing.rows(uow, endpoint, keys, "view")
    return _classes(uow, [rows[key] for key in keys if key in rows])


def _classes(uow: UnitOfWork, rows: list[Any]) -> list[dict[str, Any]]:
    """Jobs by their classes, each with its last result: as many statements for many jobs as for one."""
    results = _last_results(uow, [row["id"] for row in rows])
    known = catalog(uow)
    return [_as_class(uow, row, known.get(key_of(row)), results.get(row["id"])) for row in rows]


def _as_class(uow: UnitOfWork, row: Row, found: JobClass | None, result: Any) -> dict[str, Any]:
    path = row["path"]
    return {
        "url": f"{uow.base}/api/extras/jobs/{path}/",
        "id": path,
        "pk": row["id"],
        "name": row["name"],
        "description": row["description"],
        "test_methods": [],
        "vars": {name: type(variable).__name__ for name, variable in found.job.variables().items()} if found is not None else {},
        "result": result,
    }


def _last_results(uow: UnitOfWork, keys: list[Any]) -> dict[Any, dict[str, Any]]:
    """The last result of each job that the user may view, brief, by the job's id."""
    endpoint, table = uow.registry[job_results.LABEL], table_of(JobResult)
    try:
        allowed = permissions.scope(uow, endpoint, "view", table)
    except Denied:
        return {}
    conditions = [table.c.job_model_id.in_(keys), *([] if allowed is None else [allowed])]
    place = sa.func.row_number().over(partition_by=table.c.job_model_id, order_by=(table.c.created.desc(), table.c.id)).label("place")
    ranked = sa.select(table.c.id, table.c.job_model_id, place).where(*conditions).subquery()
    last = dict(uow.execute(sa.select(ranked.c.id, ranked.c.job_model_id).where(ranked.c.place == 1)).tuples().all())
    return {last[key]: shown for key, shown in endpoint.plan("brief").fetch(uow, list(last))}


def includeme(config: Any) -> None:
    """Adds the paths of classes below jobs."""
    config.add_netinv_action("extras/jobs", PATH, on_list=True, get=show_class, permission="view")
    config.add_netinv_action("extras/jobs", f"{PATH}/run", on_list=True, post=run_class, permission="run")
