"""Values of filters that are none: refused by each filter of each resource, with the name of the parameter."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.endpoint import Endpoint
from netinv_core.fields import Choice, Value
from netinv_core.read.filters import Filter
from netinv_core.sql.lookups import SUFFIXES
from netinv_testing import Service

TEXT = "zz\n"
TYPED = ("exact", "lt", "lte", "gt", "gte")
# No value of any type but text; each filter gets each, with its lookups in turn.
REFUSED = (
    "zz",
    "1e999",
    "2026-13-45",
    "1\x00",
    "\uff11\uff12",
    "\u0663",
    "1_0",
    "NaN",
    "-Infinity",
    "9" * 5000,
    "0" * 5000,
)


def _typed_filters(endpoint: Endpoint) -> list[Filter]:
    """The filters whose values are numbers, booleans, dates, choices or ids."""
    found = []
    for item in endpoint.filters.values():
        field = endpoint.fields.get(item.name)
        is_typed = isinstance(field, Choice) or (isinstance(field, Value) and field.python_type not in (str, object))
        if item.kind in ("number", "boolean", "integer") or item.choices is not None or is_typed or item.relation:
            found.append(item)
    return found


@pytest.mark.any_database
@pytest.mark.night
def test_every_typed_filter_refuses_what_is_no_value(service: Service) -> None:
    """Alone, negated, and by order."""
    wrong: list[object] = []
    for endpoint in service.registry.endpoints.values():
        for item in _typed_filters(endpoint):
            suffix = next((lookup for lookup in ("lte", "n") if lookup in item.lookups), "")
            names = {item.name, f"{item.name}__{suffix}" if suffix else item.name}
            answer = service.api.send("GET", endpoint.path, query=dict.fromkeys(names, TEXT), status=(200, 400))
            if answer.status_int != 400 or not names.issuperset(answer.json):
                wrong.append((endpoint.label, names, answer.status_int))
    assert wrong == []


@pytest.mark.slow
@pytest.mark.any_database
@pytest.mark.night
def test_garbage_is_refused_with_the_name_of_its_parameter(service: Service) -> None:
    """By every filter of numbers, booleans, dates and choices, with each lookup that compares values."""
    wrong: list[object] = []
    for endpoint in service.registry.endpoints.values():
        for item in _typed_filters(endpoint):
            if item.relation is not None:  # whose values are names too
                continue
            compared = [suffix for suffix in item.lookups if SUFFIXES[suffix][0] in TYPED]
            names = [item.name, *(f"{item.name}__{suffix}" for suffix in compared)]
            for number, text in enumerate(REFUSED):
                name = names[number % len(names)]
                answer = service.api.send("GET", endpoint.path, query={name: text}, status=range(600))
                if answer.status_int != 400 or list(answer.json) != [name]:
                    wrong.append((endpoint.label, name, text[:12], answer.status_int))
    assert wrong == []


@pytest.mark.any_database
@pytest.mark.parametrize("text", ["\uff11" * 32, "1_" * 16, "\u0663" * 32])
@pytest.mark.night
def test_an_id_consists_of_ascii_digits(service: Service, text: str) -> None:
    """Python reads digits of other scripts and underscores as numbers; ids are refused with them everywhere."""
    for endpoint in service.registry.endpoints.values():
        for name in ("id", "id__n"):
            if "id" in endpoint.filters:
                assert list(service.api.get(endpoint.path, {name: text}, status=400)) == [name]


@pytest.mark.parametrize(
    ("path", "canonical", "others"),
    [
        ("circuits/providers/", {"asn": "65001"}, [{"asn": "065001"}, {"asn": " 65001"}, {"asn": "+65001"}]),
        ("dcim/sites/", {"latitude": "12.5"}, [{"latitude": "12.500"}, {"latitude": "1.25e1"}, {"latitude": " 12.5"}]),
        (
            "dcim/sites/",
            {"last_updated__gte": "2020-01-01T10:00:00Z"},
            [
                {"last_updated__gte": text}
                for text in (
                    "2020-01-01T10:00:00",
                    "2020-01-01 10:00:00",
                    "2020-01-01T11:00:00+01:00",
                    "2020-01-01 10:00Z",
                )
            ],
        ),
        (
            "ipam/ip-addresses/",
            {"parent": "2001:db8::/32"},
            [{"parent": "2001:DB8::/32"}, {"parent": "2001:0db8:0::/32"}],
        ),
        ("ipam/prefixes/", {"family": "4"}, [{"family": "04"}, {"family": " 4"}]),
    ],
)
def test_notations_of_one_value_find_the_same(
    service: Service, unique: Any, path: str, canonical: dict[str, str], others: list[dict[str, str]]
) -> None:
    """Numbers with signs, zeros and exponents, times with and without a zone, addresses in long form and upper case."""
    service.api.post("/api/circuits/providers/", {"name": unique(), "asn": 65001})
    service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "latitude": "12.5"})
    service.api.post("/api/ipam/prefixes/", {"prefix": f"10.{unique.number() % 250}.0.0/16", "status": "active"})
    address = f"2001:db8::{unique.number() % 65000:x}/64"
    service.api.post("/api/ipam/ip-addresses/", {"address": address, "status": "active"})
    expected = service.api.get(f"/api/{path}", canonical)["count"]
    assert expected > 0
    assert [service.api.get(f"/api/{path}", query)["count"] for query in others] == [expected] * len(others)
