"""The lookups of a resource's parameters, and the elements of a form for their values."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Unique

CHOICES = "/api/core/filterset-fields/lookup-choices/"
ELEMENT = "/api/core/filterset-fields/lookup-value-dom-element/"
BOTH = pytest.mark.parametrize("path", [CHOICES, ELEMENT])


def test_the_lookups_of_a_parameter_can_be_used_as_they_are(api: Api) -> None:
    found = api.get(CHOICES, {"content_type": "dcim.site", "field_name": "name"})
    assert (found["count"], found["next"], found["previous"]) == (len(found["results"]), None, None)
    names = {item["id"]: item["name"] for item in found["results"]}
    assert (
        names["name"] == "is"
        and names["name__ic"] == "contains, whatever the case (ic)"
        and names["name__n"] == "not is (n)"
    )
    for parameter in names:
        api.get("/api/dcim/sites/", {parameter: "x", "limit": 1})
    assert [item["id"] for item in api.get(CHOICES, {"content_type": "dcim.site", "field_name": "q"})["results"]] == [
        "q"
    ]


@pytest.mark.parametrize(
    ("label", "parameter", "element"),
    [
        ("dcim.site", "name", '<input type="text" name="name">'),
        ("dcim.site", "name__ic", '<input type="text" name="name__ic">'),
        ("dcim.device", "position__gte", '<input type="number" name="position__gte">'),
        (
            "dcim.device",
            "has_primary_ip",
            '<select name="has_primary_ip"><option value="true">true</option><option value="false">false</option></select>',
        ),
        ("circuits.circuit", "install_date", '<input type="date" name="install_date">'),
    ],
)
def test_an_element_takes_the_values_of_a_parameter(api: Api, label: str, parameter: str, element: str) -> None:
    assert api.get(ELEMENT, {"content_type": label, "field_name": parameter}) == {"dom_element": element}


def test_a_choice_is_made_among_its_values(api: Api) -> None:
    found = api.get(ELEMENT, {"content_type": "dcim.rack", "field_name": "width"})["dom_element"]
    assert found.startswith(
        '<select name="width" multiple><option value="10">10</option><option value="19">19</option>'
    )


def test_custom_fields_are_parameters_too(api: Api, unique: Unique) -> None:
    name = unique()
    api.post(
        "/api/extras/custom-fields/", {"label": name, "slug": name, "type": "text", "content_types": ["dcim.site"]}
    )
    found = api.get(CHOICES, {"content_type": "dcim.site", "field_name": f"cf_{name}"})["results"]
    assert f"cf_{name}__ic" in [item["id"] for item in found]
    assert name in api.get(ELEMENT, {"content_type": "dcim.site", "field_name": f"cf_{name}__ic"})["dom_element"]


@BOTH
def test_what_is_missing_or_unknown_is_named(api: Api, path: str) -> None:
    missing = ["This parameter is required."]
    assert api.get(path, status=400) == {"content_type": missing, "field_name": missing}
    assert api.get(path, {"content_type": "dcim.site"}, status=400) == {"field_name": missing}
    assert api.get(path, {"content_type": "dcim.nothing", "field_name": "x"}, status=400) == {
        "content_type": ["Invalid content type: dcim.nothing"]
    }
    for name in ("nosuch", "name__zz", "__n", "<b>"):
        assert api.get(path, {"content_type": "dcim.site", "field_name": name}, status=400) == {
            "field_name": ["Unknown filter field"]
        }


@BOTH
def test_they_are_for_those_who_may_view_the_resource(api: Api, anonymous: Api, make_user: Any, path: str) -> None:
    query = {"content_type": "dcim.site", "field_name": "name"}
    assert anonymous.get(path, query, status=403) == {"detail": "Authentication credentials were not provided."}
    make_user(("view", "dcim.rack")).api.get(path, query, status=403)
    make_user(("view", "dcim.site")).api.get(path, query)
    assert api.send("POST", path, {}, status=405).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert set(api.options(path)) == {"name", "description", "renders", "parses"}
