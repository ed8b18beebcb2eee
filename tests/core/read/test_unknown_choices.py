"""A filter whose value is none of its choices is an error at every door; only what version 1.6 answers is empty.

The contract sends such a value to every filter (``a_value_that_is_no_choice_is_refused``).
"""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service

pytestmark = pytest.mark.any_database  # values are refused before the database is asked

REFUSED = "Select a valid choice. {} is not one of the available choices."
# Those that version 1.6 does not have, or of which no answer of it is recorded.
UNKNOWN = [
    ("extras/object-changes", "changed_object_type", "dcim.nothing"),
    ("extras/webhook-deliveries", "changed_object_type", "dcim.nothing"),
    ("extras/image-attachments", "content_type", "dcim.nothing"),
    ("extras/job-results", "obj_type", "dcim.nothing"),
    ("extras/notes", "assigned_object_type", "nothing"),
    ("dcim/interfaces", "cable_peer_type", "dcim.nothing"),
    ("ipam/ip-addresses", "assigned_object_type", "dcim.nothing"),
]
# Answers of version 1.6: texts, and content types of one value.
EMPTY = [
    ("dcim/interfaces", "kind", "nope"),
    ("dcim/rack-roles", "color", "nope-zzz"),
    ("extras/notes", "assigned_object_type", "nope.nope"),
    ("extras/export-templates", "owner_content_type", "nope.nope"),
    ("extras/config-context-schemas", "owner_content_type", "nope.nope"),
]


@pytest.mark.parametrize(("path", "name", "value"), UNKNOWN)
def test_an_unknown_content_type_is_named(service: Service, path: str, name: str, value: str) -> None:
    for parameter in (name, f"{name}__n"):
        refused = service.api.get(f"/api/{path}/", {parameter: value}, status=400)
        assert refused == {parameter: [REFUSED.format(value)]}


@pytest.mark.parametrize(("path", "name", "value"), EMPTY)
def test_what_version_1_6_finds_empty_is_empty(service: Service, path: str, name: str, value: str) -> None:
    assert service.api.get(f"/api/{path}/", {name: value})["count"] == 0


def test_arguments_of_graphql_are_refused(service: Service) -> None:
    query = '{ interfaces(type: ["zz"]) { id } }'
    answer = service.api.post("/api/graphql/", {"query": query}, status=(200, 400))
    assert REFUSED.format("zz") in str(answer["errors"])


def test_saved_filters_are_refused_when_they_are_stored(service: Service) -> None:
    """Of dynamic groups and of saved views, also when they change."""
    name = service.unique()
    group = {"name": name, "slug": name, "content_type": "dcim.interface", "filter": {"type": ["zz"]}}
    assert REFUSED.format("zz") in str(service.api.post("/api/extras/dynamic-groups/", group, status=400))
    views = "/api/web/saved-views/"
    view: Any = {"name": name, "content_type": "dcim.interface", "query": "type=virtual&_columns=name&ordering=name"}
    stored = service.api.post(views, view)
    for query in ("type=zz", "nothing=1", "site=nowhere", "enabled=perhaps", "name=x&type=zz"):
        for send, path in ((service.api.post, views), (service.api.patch, f"{views}{stored['id']}/")):
            refused = send(path, {**view, "name": service.unique(), "query": query}, status=400)
            parameter = query.rpartition("&")[2].partition("=")[0]
            assert refused["query"][0].startswith(f"{parameter}: "), refused
    assert service.api.get(f"{views}{stored['id']}/")["query"] == view["query"]
