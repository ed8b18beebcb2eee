"""Jobs that write objects under a review rule: refused unless the user who started them may bypass it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from netinv_testing import Service
from tests.support.jobs import SITES, ask, job, logs, result, service, work

__all__ = ["ask", "job", "service"]
RULES, CHANGES = "/api/extras/review-rules/", "/api/extras/object-changes/"


@pytest.fixture
def rule(service: Service) -> Iterator[Any]:
    """A rule about new sites."""
    word = service.unique()
    body = {"name": word, "content_types": ["dcim.site"], "constraints": {"name__startswith": word}}
    made = service.api.post(RULES, body)
    yield made
    service.api.delete(f"{RULES}{made['id']}/")


def test_a_job_of_a_user_without_the_right_to_bypass_is_rolled_back(
    service: Service, ask: Callable[..., Any], rule: Any
) -> None:
    user = service.user(("view run", "extras.job"), ("view add change delete", "dcim.site"))
    asked = ask("MakeSites", user.api, body={"commit": True}, word=rule["name"])
    work(service)
    assert result(service, asked)["status"]["value"] == "errored"
    assert any(rule["name"] in message and "Propose" in message for _, message in logs(service, asked))
    assert service.api.get(SITES, {"name__isw": rule["name"]})["count"] == 0


def test_a_job_of_a_superuser_leaves_marks(service: Service, ask: Callable[..., Any], rule: Any) -> None:
    ask("MakeSites", body={"commit": True}, word=rule["name"])
    work(service)
    (site, _) = service.api.get(SITES, {"name__isw": rule["name"]})["results"]
    (record,) = service.api.get(CHANGES, {"changed_object_id": site["id"], "include": "bypassed"})["results"]
    assert record["bypassed"] == rule["name"]
