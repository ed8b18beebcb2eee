"""The objects of every resource are the same inside of a change request as after its merge."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core import fields
from netinv_core.changelog.sequence import number_changes
from netinv_extras.change_requests.models import LABEL
from netinv_extras.change_requests.proposals import is_offered
from netinv_testing import Service
from netinv_testing.cases import Case, writable
from netinv_testing.samples import NoSample, as_written
from tests.support.contract import ENDPOINTS, every

REQUESTS = "/api/extras/change-requests/"
MERGE_TIME = ("last_updated", "created")
OFFERED = sorted(label for label, endpoint in ENDPOINTS.items() if is_offered(endpoint) and endpoint.resource.writable)
REFUSED = sorted(
    label for label, endpoint in ENDPOINTS.items() if not is_offered(endpoint) and writable(endpoint) and label != LABEL
)


class Aside:
    """A change request of a case: requests in it, and its merge."""

    def __init__(self, case: Case) -> None:
        self.case = case
        number_changes(case.service.engine, case.service.registry)  # as the worker does
        self.path = f"{REQUESTS}{case.api.post(REQUESTS, {'title': case.unique()})['id']}/"
        self.headers = {"X-Change-Request": self.path.split("/")[-2]}

    def shown(self, key: Any, **options: Any) -> tuple[Any, Any]:
        """An object by itself, twice the same, and in the list."""
        alone = self.case.api.get(self.case.at({"id": key}), **options)
        assert self.case.api.get(self.case.at({"id": key}), **options) == alone
        (listed,) = self.case.api.get(self.case.path, {"id": key}, **options)["results"]
        return _timeless(alone), _timeless(listed)

    def merge(self) -> None:
        """Makes the changes."""
        assert self.case.api.get(f"{self.path}conflicts/") == {"count": 0, "objects": []}
        self.case.api.post(f"{self.path}merge/", {}, status=200)


def _timeless(representation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in representation.items() if name not in MERGE_TIME}


def changes_of(case: Case, item: dict[str, Any]) -> dict[str, Any]:
    """Another value of a few plain fields of an object."""
    changes: dict[str, Any] = {}
    for name, field in case.endpoint.writable.items():
        plain = isinstance(field, fields.Value) and type(field.python_type) is type and field.python_type in (str, int)
        if plain and not field.write_only and name in item and item[name] not in (None, "") and len(changes) < 2:
            try:
                changes[name] = case.samples.value(case.endpoint, field, another=True)
            except NoSample:
                continue
    return changes


@pytest.mark.parametrize("label", every(OFFERED, 0, any_database=True))
def test_a_new_object_is_the_same_inside_and_after_the_merge(service: Service, label: str) -> None:
    case = Case(service, label)
    aside = Aside(case)
    created = case.api.post(case.path, case.body(), headers=aside.headers)
    assert case.api.get(case.path, {"id": created["id"]})["count"] == 0
    inside = aside.shown(created["id"], headers=aside.headers)
    both = created.keys() & inside[0].keys()
    assert {name: inside[0][name] for name in both} == {name: created[name] for name in both}
    aside.merge()
    assert aside.shown(created["id"]) == inside


@pytest.mark.parametrize("label", every(OFFERED, 1, any_database=True))
def test_a_changed_object_is_the_same_inside_and_after_the_merge(service: Service, label: str) -> None:
    case = Case(service, label)
    item, aside = case.make(), Aside(case)
    before = aside.shown(item["id"])
    response = case.api.send(
        "PATCH", case.at(item), as_written(changes_of(case, item)), headers=aside.headers, status=(200, 400)
    )
    if response.status_int == 400:  # these values do not fit together
        assert case.api.get(f"{aside.path}changes/")["count"] == 0
        return
    assert aside.shown(item["id"]) == before
    inside = aside.shown(item["id"], headers=aside.headers)
    if case.api.get(f"{aside.path}changes/")["count"]:
        aside.merge()
        assert aside.shown(item["id"]) == inside


@pytest.mark.parametrize("label", every(OFFERED, 2, any_database=True))
def test_a_deleted_object_is_gone_inside_and_after_the_merge(service: Service, label: str) -> None:
    case = Case(service, label)
    item, aside = case.make(), Aside(case)
    case.api.delete(case.at(item), headers=aside.headers)
    case.api.get(case.at(item), headers=aside.headers, status=404)
    case.api.get(case.at(item))
    aside.merge()
    case.api.get(case.at(item), status=404)


@pytest.mark.parametrize("label", every(REFUSED, 3, any_database=True))
def test_a_resource_that_is_not_offered_says_so(service: Service, label: str) -> None:
    case = Case(service, label)
    aside = Aside(case)
    refused = case.api.post(case.path, {}, headers=aside.headers, status=400)
    assert "change_request" in refused
