"""Custom links: what is particular about them; the rest is in the contract."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

pytestmark = pytest.mark.any_database
LINKS = "/api/extras/custom-links/"


@pytest.fixture
def body(unique: Unique) -> dict[str, Any]:
    """A link from sites to a wiki."""
    return {
        "name": unique(),
        "content_type": "dcim.site",
        "text": "Wiki {{ obj.name }}",
        "target_url": "https://wiki.example.com/{{ obj.slug }}",
        "new_window": True,
    }


def test_what_is_not_given_is_filled_in(api: Api, body: dict[str, Any]) -> None:
    made = api.post(LINKS, body)
    assert made | body == made
    assert (made["weight"], made["group_name"], made["button_class"]) == (100, "", "default")


def test_its_templates_are_read_when_it_is_saved(api: Api, body: dict[str, Any]) -> None:
    answer = api.post(LINKS, body | {"text": "{{ obj.name", "target_url": "{% if %}"}, status=400)
    assert set(answer) == {"text", "target_url"}
    assert answer["text"][0].startswith("This template does not compile. Line 1: ")


@pytest.mark.parametrize("label", ["dcim.nothing", "extras.objectchange", "dcim", 5, None])
def test_it_is_for_objects_that_there_are(api: Api, body: dict[str, Any], label: Any) -> None:
    assert set(api.post(LINKS, body | {"content_type": label}, status=400)) == {"content_type"}


def test_it_says_whether_it_opens_a_window(api: Api, body: dict[str, Any]) -> None:
    del body["new_window"]
    assert api.post(LINKS, body, status=400) == {"new_window": ["This field is required."]}


def test_links_are_found_by_what_they_are_for(api: Api, body: dict[str, Any]) -> None:
    made = api.post(LINKS, body)
    there = {"name": body["name"]}
    assert [shown["id"] for shown in api.get(LINKS, there | {"content_type": "dcim.site"})["results"]] == [made["id"]]
    assert api.get(LINKS, there | {"content_type": "dcim.device"})["count"] == 0
    assert api.get(LINKS, there | {"content_type__n": "dcim.device"})["count"] == 1


def test_they_come_by_group_then_weight(api: Api, body: dict[str, Any], unique: Unique) -> None:
    group = unique()
    places = [(group + "b", 1), (group + "a", 2), (group + "a", 1)]
    for place, (name, weight) in enumerate(places):
        api.post(LINKS, body | {"name": f"{group} {place}", "group_name": name, "weight": weight})
    shown = api.get(LINKS, {"group_name__isw": group})["results"]
    assert [(link["group_name"], link["weight"]) for link in shown] == sorted(places)
