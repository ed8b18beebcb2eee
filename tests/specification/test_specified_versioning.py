"""Versioning: a test for each sentence of the specification's list."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest

from netinv_core.http.versions import NEWEST
from netinv_core.http.versions import SUPPORTED as VERSIONS
from netinv_testing import Api, Unique

TENANTS, SITES = "/api/tenancy/tenants/", "/api/dcim/sites/"


@pytest.fixture
def tenant(api: Api, unique: Unique) -> Any:
    return api.post(TENANTS, {"name": unique()})


def used(response: Any) -> str:
    return str(response.headers["API-Version"])


def test_versions_are_major_and_minor() -> None:
    """Rule 1: "the API is versioned as ``major.minor`` from 1.3"."""
    assert {"1.3", NEWEST} <= set(VERSIONS) and all(re.fullmatch(r"\d+\.\d+", version) for version in VERSIONS)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_selected_by_the_accept_header(api: Api, tenant: Any, version: str) -> None:
    """Rule 1: "by the ``Accept`` header parameter ``version``"."""
    headers = {"Accept": f"application/json; version={version}"}
    assert used(api.send("GET", tenant["url"], version=None, headers=headers, status=200)) == version


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_selected_by_the_query_parameter(api: Api, tenant: Any, version: str) -> None:
    """Rule 1: "or by the query parameter ``api_version=<major.minor>``"."""
    query = {"api_version": version}
    assert used(api.send("GET", tenant["url"], version=None, query=query, status=200)) == version


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "PATCH", "PUT"])
def test_a_request_that_names_no_version_behaves_as_1_2(api: Api, tenant: Any, method: str) -> None:
    """Rule 2: "a request naming no version behaves as version 1.2 for all 1.x releases"."""
    body = {"body": {"name": tenant["name"]}} if method in ("PATCH", "PUT") else {}
    assert used(api.send(method, tenant["url"], version=None, status=200, **body)) == "1.2"


@pytest.mark.parametrize("version", [None, "1.2", "1.3", NEWEST])
def test_every_successful_response_says_its_version(api: Api, unique: Unique, version: str | None) -> None:
    """Rule 3: "every successful response carries the header ``API-Version`` with the version used"."""
    expected = version or "1.2"
    made = api.send("POST", TENANTS, {"name": unique()}, version=version, status=201)
    assert used(made) == expected
    url = made.json["url"]
    for method, path in (("GET", "/api/"), ("GET", TENANTS), ("GET", url), ("OPTIONS", TENANTS)):
        assert used(api.send(method, path, version=version, status=200)) == expected
    assert used(api.send("PATCH", url, {"description": "x"}, version=version, status=200)) == expected
    assert used(api.send("DELETE", url, version=version, status=204)) == expected


def test_non_breaking_changes_join_the_older_versions(api: Api, unique: Unique) -> None:
    """Rule 4: "non-breaking changes (new response fields …) join the existing version immediately; a client asking for
    an older version may receive them": the newest fields of a site are in every version.
    """
    site = api.post(SITES, {"name": unique(), "status": "active"})
    shown = {version: set(api.get(site["url"], version=version)) for version in VERSIONS}
    assert {"name", "time_zone", "notes_url"} <= shown["1.2"]
    assert shown == dict.fromkeys(VERSIONS, shown[NEWEST])


def test_a_request_of_an_older_version_may_use_new_optional_fields(api: Api, unique: Unique) -> None:
    """Rule 4: "new optional request fields"."""
    for version in VERSIONS:
        body = {"name": unique(), "status": "active", "time_zone": "Europe/Berlin"}
        assert api.post(SITES, body, version=version)["time_zone"] == "Europe/Berlin"


@pytest.fixture
def machine(api: Api, unique: Unique) -> str:
    """The id of a virtual machine, whose interfaces have a status since 1.4 only."""
    kind = api.post("/api/virtualization/cluster-types/", {"name": unique()})["id"]
    cluster = api.post("/api/virtualization/clusters/", {"name": unique(), "type": kind})["id"]
    body = {"name": unique(), "cluster": cluster, "status": "active"}
    return str(api.post("/api/virtualization/virtual-machines/", body)["id"])


VM_INTERFACES = "/api/virtualization/interfaces/"


def test_a_new_required_field_is_of_a_new_version(api: Api, unique: Unique, machine: str) -> None:
    """Rules 5 and 6: "breaking changes (… new required request fields …) are introduced under a new version …
    unspecified or older version returns the older behavior; the new version returns the new behavior".
    """
    for version in (None, "1.2", "1.3"):
        body = {"virtual_machine": machine, "name": unique()}
        api.post(VM_INTERFACES, body, version=version)
    for version in ("1.4", NEWEST):
        body = {"virtual_machine": machine, "name": unique()}
        assert list(api.post(VM_INTERFACES, body, version=version, status=400)) == ["status"]
        api.post(VM_INTERFACES, {**body, "status": "active"}, version=version)


def test_an_unsupported_version_is_refused(api: Api, tenant: Any) -> None:
    """Rule 5: "the previous version is supported for a period before removal": what is not supported is no success."""
    for version in ("1.1", "2.0", "9.9"):
        answer = api.send("GET", tenant["url"], version=version)
        assert answer.status_int in (400, 406)


def test_an_unchanged_endpoint_is_the_same_in_every_version(api: Api, unique: Unique) -> None:
    """Rule 6: "for an unchanged endpoint, every version returns the same representation"."""
    group = api.post("/api/tenancy/tenant-groups/", {"name": unique()})
    shown = [api.get(group["url"], version=version) for version in (None, *VERSIONS)]
    assert shown == shown[:1] * len(shown) and shown[0]["name"] == group["name"]


@pytest.mark.parametrize("version", [None, "1.2", "1.3", NEWEST])
def test_ids_are_uuids_labels_are_display_and_statuses_are_text(api: Api, unique: Unique, version: str | None) -> None:
    """Rule 7: "later ones use UUID ``id`` and ``display``; status values are given as strings"."""
    site = api.post(SITES, {"name": unique(), "status": "active"}, version=version)
    assert str(uuid.UUID(site["id"])) == site["id"]
    assert site["display"] == site["name"] and "display_name" not in site
    assert site["status"]["value"] == "active"
