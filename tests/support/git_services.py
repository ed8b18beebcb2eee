"""Services with a remote Git repository: fixtures that add and sync it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_extras.git.worker import sync_now
from netinv_testing import Api, Service
from tests.support.git_remotes import Remote

REPOSITORIES = "/api/extras/git-repositories/"
CONTEXTS, SCHEMAS, TEMPLATES = (
    "/api/extras/config-contexts/",
    "/api/extras/config-context-schemas/",
    "/api/extras/export-templates/",
)
CHANGES = "/api/extras/object-changes/"
DEVICES = "/api/dcim/devices/"
EVERYTHING = ["extras.configcontext", "extras.configcontextschema", "extras.exporttemplate"]
TOKEN = "s3cret/t0ken+x"


@pytest.fixture
def service(sending_service: Service, tmp_path: Path) -> Iterator[Service]:
    """A service whose repositories nobody else makes; it may fetch from files of this machine."""
    settings = {
        "git_protocols": ("https", "http", "ssh", "file"),
        "git_root": str(tmp_path / "git"),
        "git_timeout": 30.0,
    }
    with sending_service.configured(**settings):
        yield sending_service
        left = sending_service.api.get(REPOSITORIES, {"limit": 0})["results"]
        sending_service.api.delete(REPOSITORIES, [{"id": item["id"]} for item in left])


@pytest.fixture
def remote(tmp_path: Path) -> Remote:
    """A remote repository without commits."""
    return Remote(tmp_path / "remote")


@pytest.fixture
def add(service: Service) -> Any:
    """``add(remote, …)``: a repository that provides everything."""

    def post(remote: Remote | str, **fields: Any) -> Any:
        url = remote if isinstance(remote, str) else remote.url
        return service.api.post(
            REPOSITORIES, {"name": service.unique(), "remote_url": url, "provided_contents": EVERYTHING, **fields}
        )

    return post


@pytest.fixture
def synced(service: Service) -> Any:
    """``synced(repository)``: what came of a sync that is asked for and done now."""

    def sync(repository: Any, *, ask: bool = True) -> Any:
        if ask:
            service.api.post(f"{repository['url']}sync/", status=200)
        sync_now(service.engine, service.registry)
        return service.api.get(f"{repository['url']}sync/")

    return sync


@pytest.fixture
def make_device(service: Service) -> Callable[..., Any]:
    """``make_device(name)``: a device."""
    api, word = service.api, service.unique()
    maker = api.post("/api/dcim/manufacturers/", {"name": word})
    body = {
        "device_type": api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": word})["id"],
        "device_role": api.post("/api/dcim/device-roles/", {"name": word})["id"],
        "status": "active",
    }

    def make(name: str) -> Any:
        site = api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
        return api.post(DEVICES, {**body, "name": name, "site": site["id"]})

    return make


def context(name: str, data: Any, **metadata: Any) -> str:
    """A file with a config context, whose data is not empty."""
    return json.dumps({"_metadata": {"name": name, **metadata}, **(data or {"some": "data"})})


def owned(api: Api, path: str, repository: Any) -> dict[str, Any]:
    """What a repository owns, by name."""
    return {item["name"]: item for item in api.get(path, {"owner_object_id": repository["id"], "limit": 0})["results"]}
