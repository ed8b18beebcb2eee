"""Rights of syncs: a sync begins only while who asked for it may still do so; its outcome says why it did not."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service
from tests.support.git_remotes import Remote
from tests.support.git_services import REPOSITORIES, TEMPLATES, add, remote, service, synced

__all__ = ["add", "remote", "service", "synced"]
LABEL = "extras.gitrepository"


def put_template(remote: Remote) -> None:
    remote.write({"export_templates/dcim/site/names.txt": "{{ queryset }}"})


@pytest.mark.parametrize("lost", ["account", "inactive", "permission", "constraint"])
def test_a_sync_begins_only_while_who_asked_may_change_the_repository(
    service: Service, add: Any, synced: Any, remote: Remote, lost: str
) -> None:
    remote.write({"README": "nothing"})
    repository = add(remote)
    assert not synced(repository)["error"]
    put_template(remote)
    someone = service.user(("view", LABEL))
    permission = service.permit("change", LABEL, users=[someone.id])
    someone.api.post(f"{repository['url']}sync/", status=200)
    if lost == "account":
        service.api.delete(f"/api/users/users/{someone.id}/")
    elif lost == "inactive":
        service.api.patch(f"/api/users/users/{someone.id}/", {"is_active": False})
    elif lost == "permission":
        service.api.delete(f"/api/users/permissions/{permission['id']}/")
    else:
        service.api.patch(f"/api/users/permissions/{permission['id']}/", {"constraints": {"name": "another"}})
    assert "Whoever asked" in synced(repository, ask=False)["error"]
    failed = service.api.get(REPOSITORIES, {"sync_failed": True})["results"]
    assert repository["id"] in [item["id"] for item in failed]
    assert service.api.get(TEMPLATES, {"owner_object_id": repository["id"]})["count"] == 0
    assert not synced(repository)["error"]
    assert service.api.get(TEMPLATES, {"owner_object_id": repository["id"]})["count"] == 1


def test_who_may_add_repositories_has_their_first_sync(service: Service, synced: Any, remote: Remote) -> None:
    put_template(remote)
    someone = service.user(("view add", LABEL))
    body = {"name": service.unique(), "remote_url": remote.url, "provided_contents": ["extras.exporttemplate"]}
    assert not synced(someone.api.post(REPOSITORIES, body), ask=False)["error"]
