"""Jobs in API versions before 1.3: addressed by the path of their class, ``source/module/class``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.errors import Denied, NotFound
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.models.base import table_of
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_extras.jobs import results as job_results
from netinv_extras.jobs import schedules as job_schedules
from netinv_extras.jobs.calls import test_methods
from netinv_extras.jobs.catalog import JobClass, catalog
from netinv_extras.jobs.models import Job, key_of
from netinv_extras.jobs.results import JobResult
from netinv_extras.jobs.run_views import REQUEST, represent, start

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PATH = "{source}/{module_name}/{job_class_name}"
_CLASS = {"type": "object", "additionalProperties": True}
Row = Mapping[str, Any]


def job_id(uow: UnitOfWork, request: Request) -> Any:
    """Returns the id of the job with the class path in the URL.

    :raises NotFound: if there is none
    """
    table = table_of(Job)
    path = "/".join(request.matchdict[name] for name in ("source", "module_name", "job_class_name"))
    statement = sa.select(table.c.id).where(table.c.path == path)
    key = uow.execute(statement.order_by(table.c.installed.desc(), table.c.id)).scalar()
    if key is None:
        raise NotFound()
    return key


@documented(_CLASS, request_body=REQUEST, status=200, ignores_unknown=True)
def run_class(request: Request) -> dict[str, Any]:
    """Runs the job with a class path; answers with the job in the representation of versions before 1.3."""
    uow, endpoint = request.uow, request.context.endpoint
    key = job_id(uow, request)
    result, schedule = start(uow, endpoint, key, body_of(request))
    (representation,) = _represent(uow, [listing.rows(uow, endpoint, [key], "run")[key]])
    representation["result"] = represent(uow, job_results.LABEL, result, "full")
    if schedule is not None:
        representation["schedule"] = represent(uow, job_schedules.LABEL, schedule)
    return representation


@documented(_CLASS)
def show_class(request: Request) -> dict[str, Any]:
    """Returns the job with a class path, in the representation of versions before 1.3."""
    uow, endpoint = request.uow, request.context.endpoint
    key = job_id(uow, request)
    row = listing.rows(uow, endpoint, [key], "view").get(key)
    if row is None:
        raise NotFound()
    return _represent(uow, [row])[0]


def as_classes(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns jobs in the representation of versions before 1.3, in the order of ``keys``."""
    rows = listing.rows(uow, endpoint, keys, "view")
    return _represent(uow, [rows[key] for key in keys if key in rows])


def _represent(uow: UnitOfWork, rows: list[Any]) -> list[dict[str, Any]]:
    """Returns the representations of jobs with their last results. The number of statements is constant."""
    results = _last_results(uow, [row["id"] for row in rows])
    job_classes = catalog(uow)
    return [_as_class(uow, row, job_classes.get(key_of(row)), results.get(row["id"])) for row in rows]


def _as_class(uow: UnitOfWork, row: Row, job_class: JobClass | None, result: Any) -> dict[str, Any]:
    path = row["path"]
    variables = job_class.job.variables() if job_class is not None else {}
    return {
        "url": f"{uow.base}/api/extras/jobs/{path}/",
        "id": path,
        "pk": row["id"],
        "name": row["name"],
        "description": row["description"],
        "test_methods": test_methods(job_class.job) if job_class is not None else [],
        "vars": {name: type(variable).__name__ for name, variable in variables.items()},
        "result": result,
    }


def _last_results(uow: UnitOfWork, keys: list[Any]) -> dict[Any, dict[str, Any]]:
    """Returns the last result of each job that the user may view, in brief form, by job id. Two statements."""
    endpoint, table = uow.registry[job_results.LABEL], table_of(JobResult)
    try:
        limits = permissions.limits(uow, endpoint, "view", table)
    except Denied:
        return {}
    conditions = [table.c.job_model_id.in_(keys), *limits]
    newest_first = (table.c.created.desc(), table.c.id)
    place = sa.func.row_number().over(partition_by=table.c.job_model_id, order_by=newest_first).label("place")
    ranked = sa.select(table.c.id, table.c.job_model_id, place).where(*conditions).subquery()
    last_results = sa.select(ranked.c.id, ranked.c.job_model_id).where(ranked.c.place == 1)
    job_ids = dict(uow.execute(last_results).tuples().all())
    representations = plan_of(endpoint, "brief").fetch(uow, list(job_ids))
    return {job_ids[key]: representation for key, representation in representations}


def includeme(config: Any) -> None:
    """Adds ``jobs/{source}/{module}/{class}/`` and ``run/`` below it."""
    config.add_netinv_action("extras/jobs", PATH, on_list=True, get=show_class, permission="view")
    run = {"on_list": True, "permission": "run", "runs_aside": True}
    config.add_netinv_action("extras/jobs", f"{PATH}/run", post=run_class, **run)
