"""Dry runs of actions and root views: each is carried out and rolled back, and no message goes to the worker."""

from __future__ import annotations

from pathlib import Path

import pytest

from netinv_core.tasks import queue as task_queue
from netinv_testing import Service
from tests.support.action_permissions import NEEDS, READS
from tests.support.action_requests import WRITES, sample

pytestmark = pytest.mark.any_database  # which actions have dry runs

DRY = {"dry_run": "true"}
READ_ONLY = {"graphql-queries/run POST", *READS}


def test_every_action_that_writes_has_a_dry_run() -> None:
    assert {name for name in NEEDS if not name.endswith(" GET")} == WRITES.keys() | READ_ONLY


@pytest.mark.parametrize("name", sorted(WRITES))
def test_a_dry_run_of_an_action_leaves_no_trace(service: Service, tmp_path: Path, name: str) -> None:
    path, body = WRITES[name](service)
    url = f"sqlite:///{tmp_path}/queue.db"
    messages = task_queue.queue(url)
    with service.configured(queue_url=url):
        rows, files = service.row_counts(), _files(service)
        preview = service.api.post(path, body, query=DRY, status=200)
        task_queue.flush(10)
        assert (service.row_counts(), _files(service), messages.pending_count()) == (rows, files, 0)
        answer = service.api.send("POST", path, body, status=(200, 201, 204))
        task_queue.flush(10)
    assert (preview["dry_run"], preview["status"]) == (True, answer.status_int)
    assert (preview["result"] is None) == (not answer.body)


def _files(service: Service) -> list[Path]:
    return sorted(Path(service.registry.settings["media_root"]).rglob("*"))


def test_a_dry_run_of_the_preferences_keeps_none(service: Service) -> None:
    word = service.unique()
    preview = service.api.patch("/api/users/config/", {word: 1}, query=DRY)
    assert (preview["result"][word], preview["changes"]) == (1, [])
    assert word not in service.api.get("/api/users/config/")


@pytest.mark.parametrize("path", ["/api/graphql/", "/api/extras/graphql-queries/{id}/run/"])
def test_what_only_reads_has_no_dry_run(service: Service, path: str) -> None:
    kept = sample(service, "extras.graphqlquery")
    refused = service.api.post(path.format(**kept), {"query": "{sites{name}}"}, query=DRY, status=400)
    assert refused == {"dry_run": ["This path writes nothing: leave the parameter out."]}
    service.api.delete(kept["url"])
