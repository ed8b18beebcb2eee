"""The query parameter ``ordering`` of lists."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Samples, Service, Unique

SITES, RACKS, DEVICES = "/api/dcim/sites/", "/api/dcim/racks/", "/api/dcim/devices/"


@pytest.fixture
def racks(api: Api, unique: Unique) -> dict[str, Any]:
    """Three racks at sites whose facility codes sort in another order than their names."""
    word = unique()
    places = [(f"{word}1", "z"), (f"{word}2", "y"), (f"{word}3", "x")]
    sites = api.post(
        SITES, [{"name": name, "slug": name, "status": "active", "facility": code} for name, code in places]
    )
    bodies = [
        {"name": f"{word} {n}", "site": site["id"], "status": "active"}
        for n, site in zip((10, 9, 8), sites, strict=True)
    ]
    created = api.post(RACKS, bodies)
    return {
        "ids": [item["id"] for item in created],
        "sites": [item["id"] for item in sites],
        "names": [b["name"] for b in bodies],
    }


def listed(api: Api, path: str, ids: list[str], ordering: Any, **query: Any) -> list[str]:
    """The ids of a list in an order."""
    return [item["id"] for item in api.get(path, {"id": ids, "ordering": ordering, **query})["results"]]


def test_lists_are_ordered_by_members_of_references(api: Api, racks: dict[str, Any]) -> None:
    first, second, third = racks["ids"]
    assert (
        listed(api, RACKS, racks["ids"], "site")
        == listed(api, RACKS, racks["ids"], "site.name")
        == [first, second, third]
    )
    assert listed(api, RACKS, racks["ids"], "site.facility") == [third, second, first]
    assert listed(api, RACKS, racks["ids"], "site.region.name,-site.facility") == [first, second, third]


def test_a_parameter_that_is_repeated_adds_names(api: Api, racks: dict[str, Any]) -> None:
    assert listed(api, RACKS, racks["ids"], ["status", "site.facility"]) == racks["ids"][::-1]


def test_a_blank_parameter_leaves_the_usual_order(api: Api, racks: dict[str, Any]) -> None:
    assert listed(api, RACKS, racks["ids"], "") == listed(api, RACKS, racks["ids"], ",") == racks["ids"]


def test_what_a_user_may_not_view_does_not_decide_the_order(service: Service, racks: dict[str, Any]) -> None:
    """The name of a site is shown with the rack, its facility is not."""
    unlimited = service.user(("view", ["dcim.rack", "dcim.site"])).api
    limited = service.user(("view", "dcim.rack")).api
    one_site = service.user(("view", "dcim.rack"), ("view", "dcim.site", {"id": racks["sites"][1]})).api
    assert listed(unlimited, RACKS, racks["ids"], "site.facility") == racks["ids"][::-1]
    assert listed(limited, RACKS, racks["ids"], "site.facility") == sorted(racks["ids"])
    assert listed(limited, RACKS, racks["ids"], "-site.facility") == sorted(racks["ids"])
    assert listed(one_site, RACKS, racks["ids"], "site.facility")[0] == racks["ids"][1]
    assert listed(limited, RACKS, racks["ids"], "-site.name") == racks["ids"][::-1]


def test_devices_are_ordered_by_the_primary_address_that_counts(service: Service, api: Api, unique: Unique) -> None:
    samples, addresses = Samples(service), (f"{unique.ipv6()}::1/64", "198.51.100.20/24", "198.51.100.3/24")
    devices = samples.make_many(service.registry["dcim.device"], 4)
    vrf = api.post("/api/ipam/vrfs/", {"name": unique()})["id"]
    for device, address in zip(devices, addresses, strict=False):
        body = {"device": device["id"], "name": "eth0", "type": "virtual", "status": "active"}
        interface = api.post("/api/dcim/interfaces/", body)["id"]
        assigned = {"assigned_object_type": "dcim.interface", "assigned_object_id": interface}
        body = {"address": address, "status": "active", "vrf": vrf, **assigned}
        key = api.post("/api/ipam/ip-addresses/", body)["id"]
        api.patch(f"{DEVICES}{device['id']}/", {"primary_ip6" if ":" in address else "primary_ip4": key})
    six, twenty, three, none = (device["id"] for device in devices)
    ids = [none, twenty, six, three]
    assert listed(api, DEVICES, ids, "primary_ip4,primary_ip6") == [three, twenty, six, none]
    assert listed(api, DEVICES, ids, "primary_ip") == [three, twenty, six, none]
    assert listed(api, DEVICES, ids, "-primary_ip") == [six, twenty, three, none]


def test_custom_fields_of_lists_cannot_be_ordered_by(api: Api, unique: Unique) -> None:
    slug = f"{unique()}_c".lower()
    body = {"label": slug, "slug": slug, "content_types": ["dcim.site"], "required": False}
    api.post("/api/extras/custom-fields/", {**body, "type": "json"})
    assert "one of" in api.get(SITES, {"ordering": f"cf_{slug}"}, status=400)["ordering"][0]


def test_an_order_takes_no_further_statements(service: Service, api: Api, racks: dict[str, Any]) -> None:
    counts = []
    for ordering in ("", "site.facility,-tenant.group.name,device_count", "name"):
        api.get(RACKS, {"ordering": ordering})
        with service.statements() as statements:
            api.get(RACKS, {"ordering": ordering, "id": racks["ids"]})
        counts.append(len(statements))
    assert len(set(counts)) == 1


def test_confidential_columns_cannot_be_ordered_by(api: Api) -> None:
    for path, name in (
        ("/api/extras/webhooks/", "secret"),
        ("/api/users/users/", "password"),
        ("/api/users/tokens/", "key"),
    ):
        assert list(api.get(path, {"ordering": name}, status=400)) == ["ordering"]
    assert list(api.get("/api/users/tokens/", {"ordering": "user.password"}, status=400)) == ["ordering"]


def test_the_parameter_is_for_lists_only(api: Api, racks: dict[str, Any]) -> None:
    assert list(api.get(f"{RACKS}{racks['ids'][0]}/", {"ordering": "name"}, status=400)) == ["ordering"]


def test_exports_and_further_lists_keep_the_order(api: Api, unique: Unique, racks: dict[str, Any]) -> None:
    name = unique()
    code = "{% for rack in queryset %}{{ rack.name }}\n{% endfor %}"
    api.post("/api/extras/export-templates/", {"content_type": "dcim.rack", "name": name, "template_code": code})
    query = {"id": racks["ids"], "export": name, "ordering": "-site.facility"}
    assert api.send("GET", RACKS, query=query, status=200).text.split("\n")[:3] == racks["names"]


def test_custom_fields_do_not_displace_the_other_names_of_an_error(api: Api, unique: Unique) -> None:
    """The text of an error is cut after some two thousand characters."""
    path, word = "/api/extras/custom-fields/", unique()
    field = {"type": "text", "content_types": ["circuits.provider"]}
    slugs = [f"{word}_{number}_{'x' * 30}" for number in range(60)]
    made = [{**field, "label": slug, "slug": slug} for slug in slugs]
    ids = [{"id": item["id"]} for item in api.post(path, made)]
    try:
        (message,) = api.get("/api/circuits/providers/", {"ordering": "nowhere"}, status=400)["ordering"]
        assert f"cf_{word}_0_" in message and message.endswith("more characters)")
        assert "portal_url" in message
    finally:
        api.delete(path, ids)
