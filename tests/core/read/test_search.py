"""``/api/search/``: objects of all resources that a text identifies or names."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_core.db import text_indexes
from netinv_search import stages as search_stages
from netinv_testing import Api, Samples, Service, Unique

SEARCH, SITES, TENANTS = "/api/search/", "/api/dcim/sites/", "/api/tenancy/tenants/"


def groups_of(api: Api, text: str, **query: Any) -> dict[str, list[str]]:
    """The ids of each group by its resource."""
    groups = api.get(SEARCH, {"q": text, **query})["groups"]
    return {group["resource"]: [item["id"] for item in group["results"]] for group in groups}


@pytest.fixture
def places(api: Api, unique: Unique) -> dict[str, Any]:
    """A site and a tenant whose names begin alike."""
    word = unique()
    site = api.post(SITES, {"name": f"{word} site", "slug": word, "status": "active", "description": f"near{word}"})
    return {"word": word, "site": site, "tenant": api.post(TENANTS, {"name": f"{word} tenant"})}


def test_names_are_found_by_their_beginning_over_all_resources(api: Api, places: dict[str, Any]) -> None:
    expected = {"dcim.site": [places["site"]["id"]], "tenancy.tenant": [places["tenant"]["id"]]}
    for text in (places["word"], places["word"].upper().lower(), f"  {places['word']} "):
        assert groups_of(api, text) == expected


def test_names_that_contain_the_text_come_after_those_that_begin_with_it(api: Api, unique: Unique) -> None:
    word = unique()
    names = [f"the {word}", f"{word} two", word]
    ids = [api.post(TENANTS, {"name": name})["id"] for name in names]
    assert groups_of(api, word) == {"tenancy.tenant": ids[::-1]}
    assert groups_of(api, f"HE {word}".title()) == {"tenancy.tenant": ids[:1]}


def test_devices_are_found_by_name_though_their_display_is_composed(service: Service, api: Api, unique: Unique) -> None:
    device = Samples(service).make(service.registry["dcim.device"])
    name = f"sw-{unique()}"
    api.patch(device["url"], {"name": name})
    for text in (name, name.upper(), name[3:]):
        assert groups_of(api, text) == {"dcim.device": [device["id"]]}
    (group,) = api.get(SEARCH, {"q": name})["groups"]
    assert [item["id"] for item in api.get(group["url"])["results"]] == [device["id"]]


def test_results_are_brief_and_say_what_matches(api: Api, places: dict[str, Any]) -> None:
    answer = api.get(SEARCH, {"q": f"{places['word']} s"})
    (group,) = answer["groups"]
    brief = api.get(places["site"]["url"], {"brief": 1})
    assert answer["query"] == f"{places['word']} s"
    assert group["results"] == [{**brief, "match": {"field": "name", "text": places["site"]["name"]}}]
    assert (group["title"], group["count_more"], group["links"]) == ("Sites", False, [])
    assert [item["id"] for item in api.get(group["url"])["results"]] == [places["site"]["id"]]


def test_an_id_finds_its_object(api: Api, places: dict[str, Any]) -> None:
    assert groups_of(api, places["site"]["id"]) == {"dcim.site": [places["site"]["id"]]}


def test_other_fields_are_searched_where_no_name_matches(api: Api, places: dict[str, Any]) -> None:
    assert groups_of(api, f"near{places['word']}") == {"dcim.site": [places["site"]["id"]]}


@pytest.mark.night
def test_other_fields_are_compared_whatever_their_case_and_letters(api: Api, unique: Unique) -> None:
    word = unique()
    sites = {
        text: api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "facility": text})["id"]
        for text in (f"Über {word}", f"{word} ROOM_7 5%")
    }
    for text in (f"über {word.upper()}", f"ÜBER {word}", f"ber {word}"):
        assert groups_of(api, text) == {"dcim.site": [sites[f"Über {word}"]]}
    for text in (f"{word} room_7", f"{word.upper()} Room_7 5%"):
        assert groups_of(api, text) == {"dcim.site": [sites[f"{word} ROOM_7 5%"]]}
    assert groups_of(api, f"{word} room17") == {}


@pytest.mark.night
def test_a_number_is_looked_for_in_numbers_too(api: Api, unique: Unique) -> None:
    """But not in those that cannot be so large, such as the number of a VLAN."""
    vlan = api.post("/api/ipam/vlans/", {"name": unique(), "vid": 4067, "status": "active"})
    assert vlan["id"] in [item["id"] for item in api.get("/api/ipam/vlans/", {"q": "4067"})["results"]]
    for number in ("4200123457", "-4200123457", str(1 << 63), str(1 << 70)):
        assert api.get("/api/ipam/vlans/", {"q": number})["count"] == 0
        assert api.get("/api/dcim/sites/", {"q": number})["count"] == 0
        assert groups_of(api, number) == {}
    site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "asn": 4200123457})
    assert groups_of(api, "4200123457") == {"dcim.site": [site["id"]]}
    assert groups_of(api, "42001234") == {}


def test_other_fields_lead_only_through_objects_that_a_user_may_view(service: Service, unique: Unique) -> None:
    """Reservations are found by the facility id of their rack."""
    api, samples, word = service.api, Samples(service), unique()
    reservation = samples.make(service.registry["dcim.rackreservation"])
    rack = reservation["rack"]
    api.patch(rack["url"], {"facility_id": word})
    reservations, racks = ("view", "dcim.rackreservation"), ("view", "dcim.rack")
    found = {"dcim.rack": [rack["id"]], "dcim.rackreservation": [reservation["id"]]}
    assert groups_of(api, word) == groups_of(service.user(reservations, racks).api, word) == found
    for limited in (service.user(reservations), service.user(reservations, (*racks, {"name": "none"}))):
        assert groups_of(limited.api, word) == {}


@pytest.mark.night
def test_a_search_can_be_within_one_resource(api: Api, places: dict[str, Any]) -> None:
    for name in ("sites", "site", "dcim.site", "Sites"):
        assert groups_of(api, f"in:{name} {places['word']}") == {"dcim.site": [places["site"]["id"]]}
    assert list(api.get(SEARCH, {"q": "in:nothing x"}, status=400)) == ["q"]


def test_groups_are_limited_and_say_when_there_is_more(api: Api, unique: Unique) -> None:
    word = unique()
    api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(4)])
    for limit, more in ((2, True), (4, False)):
        for text in (word, f"in:tenants {word}"):
            (group,) = api.get(SEARCH, {"q": text, "limit": limit})["groups"]
            assert (len(group["results"]), group["count_more"]) == (limit, more)


def test_only_what_a_user_may_view_is_found(service: Service, places: dict[str, Any]) -> None:
    """By name, by id, by other fields, and within a resource; constraints apply."""
    outsider = service.user(("view", "tenancy.tenant", {"name": "nothing"}), ("view", "dcim.rack")).api
    insider = service.user(("view", "dcim.site", {"name": places["site"]["name"]})).api
    for text in (places["word"], places["site"]["id"], f"near{places['word']}"):
        assert groups_of(outsider, text) == {}
        assert groups_of(insider, text) == {"dcim.site": [places["site"]["id"]]}
    assert list(outsider.get(SEARCH, {"q": f"in:sites {places['word']}"}, status=400)) == ["q"]
    assert groups_of(outsider, f"in:tenants {places['word']}") == {}
    service.anonymous.get(SEARCH, {"q": "x"}, status=403)


@pytest.mark.parametrize("text", ["", " ", "x" * 201, "a\x00b"])
def test_a_text_is_required_and_short(api: Api, text: str) -> None:
    assert list(api.get(SEARCH, {"q": text}, status=400)) == ["q"]


def test_bad_parameters_are_named(api: Api) -> None:
    assert list(api.get(SEARCH, status=400)) == ["q"]
    assert list(api.get(SEARCH, {"q": "x", "limit": "0"}, status=400)) == ["limit"]
    assert list(api.get(SEARCH, {"q": "x", "limit": "x"}, status=400)) == ["limit"]
    assert list(api.get(SEARCH, {"q": "x", "name": "x"}, status=400)) == ["name"]


def test_wildcards_and_odd_characters_stand_for_themselves(api: Api) -> None:
    for text in ("%", "_", "\\", "'", '"', "é", "\U0010ffff", "in:", "in: x", "1e9", "::", "/", "10.0.0.0/99"):
        api.get(SEARCH, {"q": text}, status=(200, 400))


@pytest.mark.night
def test_all_of_a_resource_with_trigram_indexes_is_searched(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique
) -> None:
    """Of others, and on other databases, the first rows. Constraints of permissions apply to either."""
    for name in ("SCANNED_ROWS", "SCANNED_FOR_TEXTS"):
        monkeypatch.setattr(search_stages, name, 0)
    samples, word = Samples(service), unique()
    first, second = (samples.make(service.registry["dcim.device"]) for _ in range(2))
    api.patch(first["url"], {"name": f"sw-{word}", "serial": f"Z{word[::-1]}"})
    api.patch(second["url"], {"name": f"sw-{word}-b"})
    api.post(TENANTS, {"name": f"sw-{word}"})
    is_indexed = service.registry.dialect == "postgresql"
    expected = {"dcim.device": [first["id"], second["id"]]} if is_indexed else {}
    assert {label: sorted(ids) for label, ids in groups_of(api, word).items()} == {
        label: sorted(ids) for label, ids in expected.items()
    }
    by_serial = {"dcim.device": [first["id"]]} if is_indexed else {}
    assert groups_of(api, word[::-1]) == by_serial
    limited = service.user(("view", "dcim.device", {"name": f"sw-{word}"})).api
    assert [groups_of(limited, text) for text in (word, word[::-1])] == [by_serial] * 2
    assert groups_of(service.user(("view", "dcim.device", {"name": "none"})).api, word) == {}


def test_the_first_rows_are_searched_where_a_trigram_index_is_missing(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique
) -> None:
    device, word = Samples(service).make(service.registry["dcim.device"]), unique()
    api.patch(device["url"], {"serial": f"Z{word[::-1]}"})
    with monkeypatch.context() as patched:
        patched.setattr(search_stages, "SCANNED_FOR_TEXTS", 0)
        patched.setattr(text_indexes, "missing_indexes", lambda connection, registry: ["tx_dcim_device_comments"])
        service.user(("view", "dcim.device"))  # a new version of the configuration
        assert groups_of(api, word[::-1]) == {}
    service.user(("view", "dcim.device"))
    assert groups_of(api, word[::-1]) == {"dcim.device": [device["id"]]}


def test_a_search_takes_a_fixed_number_of_statements(service: Service, places: dict[str, Any]) -> None:
    """Authentication, recognisers, two for names, one for parts of objects with several words, representations; two for
    the filters ``q`` if nothing else is found. With trigram indexes one more for names, and one for names along
    references.
    """
    more = 2 if service.registry.dialect == "postgresql" else 0
    for text, most in ((places["word"], 6), ("no such name", 8), (f"near{places['word']}", 8), ("198.18.0.1", 7)):
        with service.statements() as statements:
            service.api.get(SEARCH, {"q": text})
        assert len(statements) <= most + more, "\n".join(statements)
