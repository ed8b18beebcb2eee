"""Parameters of custom fields without a lookup: one value for every type, wherever filters are used."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_extras.custom_fields import filters
from netinv_testing import Api
from netinv_web.testing import Browser

FIELDS, ROLES, GROUPS = "/api/extras/custom-fields/", "/api/dcim/rack-roles/", "/api/extras/dynamic-groups/"
ONE = ["Enter a single value."]
TYPES = sorted(filters._KINDS)


@pytest.fixture
def field(api: Api, request: Any) -> Iterator[Any]:
    """A custom field of rack roles; its type is the parameter."""
    slug = f"f{uuid.uuid4().hex[:12]}"
    body = {"type": request.param, "slug": slug, "name": f"{slug}_old", "label": slug}
    made = api.post(FIELDS, {**body, "content_types": ["dcim.rackrole"]})
    yield made
    api.delete(made["url"])


def value(field: Any) -> str:
    return {"integer": "1", "date": "2020-05-17", "boolean": "true"}.get(field["type"]["value"], '"a"')


@pytest.mark.parametrize("field", TYPES, indirect=True)
def test_a_parameter_without_a_lookup_takes_one_value(api: Api, field: Any) -> None:
    """By slug and by name, also where the values are equal. An empty value is none."""
    one = value(field)
    for name in (f"cf_{field['slug']}", f"cf_{field['slug']}_old"):
        for values in ([one, one], [one, "null"], ["null", one]):
            assert api.get(ROLES, {name: values}, status=400) == {name: ONE}
        assert api.get(ROLES, {name: ["", one]})["count"] == 0


@pytest.mark.parametrize("field", TYPES, indirect=True)
def test_lookups_take_several_values(api: Api, make: Any, field: Any) -> None:
    slug = field["slug"]
    role = make(ROLES)
    for suffix in filters._KINDS[field["type"]["value"]][1]:
        found = api.get(ROLES, {f"cf_{slug}__{suffix}": [value(field), value(field)], "id": role["id"]})
        assert found["count"] <= 1
    assert api.get(ROLES, {"id": [role["id"], role["id"]], f"cf_{slug}": "null"})["count"] == 1


@pytest.mark.parametrize("field", ["text"], indirect=True)
def test_graphql_and_saved_filters_take_one_value(api: Api, unique: Any, field: Any) -> None:
    name = f"cf_{field['slug']}"
    for several in (False, True):
        query = f"{{ rack_roles({name}: {'[1, 2]' if several else '[1]'}) {{ name }} }}"
        answer = api.post("/api/graphql/", {"query": query}, status=200)
        assert ("errors" in answer) is several and (ONE[0] in str(answer)) is several
    group = {"name": unique(), "slug": unique().lower(), "content_type": "dcim.rackrole"}
    assert ONE[0] in str(api.post(GROUPS, {**group, "filter": {name: ["a", "b"]}}, status=400))


@pytest.mark.parametrize("field", ["text"], indirect=True)
def test_the_filter_bar_replaces_the_value(browser: Browser, field: Any) -> None:
    """A second value of such a parameter takes the place of the first; with a lookup it joins it."""
    for lookup in ("", "ic"):
        name = f"cf_{field['slug']}" + (f"__{lookup}" if lookup else "")
        sent = {"_filter": f"cf_{field['slug']}", "_lookup": lookup, "_value": "b", name: "a"}
        page = browser.get("/dcim/rack-roles/", sent, status=303)
        expected = f"{name}=b" if not lookup else f"{name}=a&{name}=b"
        assert page.headers["Location"].rpartition("?")[2] == expected
