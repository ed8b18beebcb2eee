"""Button of the home page that runs the job *Load the demo inventory*."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import Denied, NotFound
from netinv_core.http.security_policy import AUTHENTICATED
from netinv_core.models.base import table_of
from netinv_core.write import save
from netinv_demo.jobs import LoadDemoInventory
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import run_views
from netinv_web import notices
from netinv_web.extensions import FirstStep
from netinv_web.pages import see_other

PATH = "/demo/load/"
DESCRIPTION = "A made-up company with 12 sites, racks, 500 cabled devices, addresses and circuits; for trials."
_jobs = table_of(job_models.Job)


def first_steps(request: Request) -> list[FirstStep]:
    """The button, for superusers; none where the feature ``jobs`` is disabled."""
    if not request.uow.identity.superuser or request.uow.registry.get(job_models.LABEL) is None:
        return []
    return [FirstStep("Load the demo inventory", PATH, DESCRIPTION, method="POST")]


def load(request: Request) -> Response:
    """Enables the job, runs it for the user, and leads to its result.

    :raises Denied: for users who are no superusers
    :raises NotFound: when the job is not installed, or the feature ``jobs`` disabled
    """
    uow = request.uow
    if not uow.identity.superuser:
        raise Denied("Only superusers may load the demo inventory.")
    is_job = (_jobs.c.module_name == LoadDemoInventory.__module__, _jobs.c.job_class_name == LoadDemoInventory.__name__)
    row = uow.execute(sa.select(_jobs.c.id, _jobs.c.enabled).where(*is_job, _jobs.c.installed)).first()
    endpoint = uow.registry.get(job_models.LABEL)
    if row is None or endpoint is None:
        raise NotFound()
    if not row.enabled:
        save.update(uow, endpoint, [{"id": row.id, "enabled": True}], partial=True, single=True)
    result, schedule = run_views.start(uow, endpoint, row.id, {})
    if result is None:
        return see_other(f"/extras/scheduled-jobs/{schedule}/")
    notice = notices.Notice("The demo inventory is being loaded; this takes about half a minute.")
    return notices.add(request, see_other(f"/extras/job-results/{result}/"), notice)


def includeme(config: Any) -> None:
    """Adds the address of the button."""
    config.add_netinv_page(PATH, load, permission=AUTHENTICATED, methods=["POST"])
