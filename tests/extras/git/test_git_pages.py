"""Pages of Git repositories: the button that requests a synchronisation, and its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.base import table_of
from netinv_extras.git.models import GitSync
from netinv_testing import Account, Service
from netinv_testing.client import PASSWORD
from netinv_web.testing import Browser

pytestmark = pytest.mark.any_database
REPORT = {
    "created": 2,
    "updated": 1,
    "deleted": 0,
    "unchanged": 7,
    "objects": [{"object_type": "extras.configcontext", "name": "<i>dns</i>", "outcome": "created"}],
    "refused": [{"file": "config_contexts/ntp.json", "reason": "It is no JSON."}],
}
_sync: Any = table_of(GitSync)


@pytest.fixture
def repository(service: Service) -> Any:
    """A repository whose first synchronisation is requested."""
    name = service.unique()
    body = {"name": name, "slug": name, "remote_url": f"https://git.example.com/{name}.git", "provided_contents": []}
    return service.api.post("/api/extras/git-repositories/", body)


def finish(service: Service, repository: Any) -> None:
    """Makes the synchronisation look finished."""
    with service.unit_of_work() as uow:
        values = {"wanted": None, "finished": uow.now, "head": "a" * 40, "report": REPORT}
        uow.execute(
            sa.update(_sync)
            .where(_sync.c.repository_id == uow.registry["extras.gitrepository"].parse_key(repository["id"]))
            .values(**values)
        )


def test_a_synchronisation_is_requested_and_its_report_shown(service: Service, repository: Any) -> None:
    browser, path = Browser(service, service.admin), f"/extras/git-repositories/{repository['id']}/"
    finish(service, repository)
    panel = browser.get(path, status=200).html.select_one("#panel-sync")
    facts = {row.dt.text: row.dd.text for row in panel.select("dl div")}
    assert (facts["State"], facts["Created"], facts["Unchanged"], facts["Commit"]) == ("incomplete", "2", "7", "a" * 12)
    assert "config_contexts/ntp.json: It is no JSON." in panel.text
    assert "<i>dns</i>" in panel.text
    page = browser.post(panel.form["action"], status=303).follow()
    assert "added to queue" in page
    part = page.html.select_one("#git-sync")
    assert "queued, requested by" in part.text
    finish(service, repository)
    assert "data-poll" not in browser.get(part["data-poll"], status=200).html.select_one("#git-sync").attrs


def test_a_reader_sees_the_report_without_the_button(
    service: Service, repository: Any, make_user: Callable[..., Account]
) -> None:
    reader = Browser(service, make_user(("view", "extras.gitrepository"), password=PASSWORD))
    path = f"/extras/git-repositories/{repository['id']}/"
    assert reader.get(path, status=200).html.select("#panel-sync button") == []
    reader.post(f"{path}sync/", status=403)
    nobody = Browser(service, make_user(password=PASSWORD))
    nobody.get(f"{path}sync-state/", status=403)
    nobody.post(f"{path}sync/", status=403)
