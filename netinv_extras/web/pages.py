"""Routes of the pages."""

from __future__ import annotations

from typing import Any

from netinv_core.auth.security_policy import API_ACCESS
from netinv_core.http.traversal import root_of
from netinv_extras.git.web import syncs as git_syncs
from netinv_extras.graphql.web import page as graphql_page
from netinv_extras.jobs.web import forms as job_forms
from netinv_extras.jobs.web import results as job_results
from netinv_extras.plans.web import panel as plans


def includeme(config: Any) -> None:
    """Adds the pages."""
    root = root_of(config.registry.netinv.apps["extras"])
    add = config.add_netinv_page
    job = {"factory": root, "traverse": "/jobs/{id}"}
    add("/extras/jobs/{id}/run/", job_forms.run, permission="run", methods=["GET", "POST"], **job)
    result = {"factory": root, "traverse": "/job-results/{id}"}
    add("/extras/job-results/{id}/live-log/", job_results.show_log, permission="view", **result)
    schedule = {"factory": root, "traverse": "/scheduled-jobs/{id}"}
    add("/extras/scheduled-jobs/{id}/decide/", job_results.decide, permission="view", methods=["POST"], **schedule)
    repository = {"factory": root, "traverse": "/git-repositories/{id}"}
    add("/extras/git-repositories/{id}/sync/", git_syncs.sync, permission="change", methods=["POST"], **repository)
    add("/extras/git-repositories/{id}/sync-state/", git_syncs.show, permission="view", **repository)
    plan = {"factory": root, "traverse": "/plans/{id}"}
    add("/extras/plans/{id}/apply/", plans.apply, permission="view", methods=["POST"], **plan)
    both = ["GET", "POST"]
    add(graphql_page.PATH, graphql_page.show, permission=API_ACCESS, methods=both, read_only=True)
