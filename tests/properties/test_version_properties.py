"""API versions: what a client of any version writes it reads again, and writing back what was read changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_core.http.versions import NEWEST, SUPPORTED, absent, downgrade, older, upgrade
from netinv_testing import Service

TAGS, FIELDS = "/api/extras/tags/", "/api/extras/custom-fields/"
INTERFACES, ADDRESSES = "/api/dcim/interfaces/", "/api/ipam/ip-addresses/"
versions = st.sampled_from(SUPPORTED)
texts = st.text("abcÄ日 %", max_size=8).map(str.strip)
Body = dict[str, Any]


@pytest.fixture(scope="session")
def device(service: Service) -> str:
    """The id of a device."""
    word = service.unique()
    body = {"name": word, "slug": word}
    maker, role = (service.api.post(f"/api/dcim/{name}/", body)["id"] for name in ("manufacturers", "device-roles"))
    kind = service.api.post("/api/dcim/device-types/", {"manufacturer": maker, "model": word})["id"]
    site = service.api.post("/api/dcim/sites/", {**body, "status": "active"})["id"]
    hardware = {"device_type": kind, "device_role": role, "site": site, "status": "active"}
    made: str = service.api.post("/api/dcim/devices/", {"name": word, **hardware})["id"]
    return made


def agrees(shown: Any, sent: Any) -> bool:
    """A member is shown as it was sent: plainly, as a choice, or as the object that an id names."""
    return shown == sent or (isinstance(shown, dict) and sent in (shown.get("value"), shown.get("id")))


def goes_round(service: Service, path: str, version: str, body: Body) -> Body:
    """Creates an object in a version, reads it and writes it back in that version; gives it as that version shows
    it.
    """
    created = service.api.post(path, body, version=version)
    item = f"{path}{created['id']}/"
    shown: Body = service.api.get(item, version=version)
    assert [name for name in shown.keys() & created.keys() if shown[name] != created[name]] == []
    assert {name: value for name, value in body.items() if not agrees(shown[name], value)} == {}
    newest = service.api.get(item)
    service.api.put(item, shown, version=version)
    again = service.api.get(item)
    assert {**again, "last_updated": 0} == {**newest, "last_updated": 0}
    return shown


@settings(max_examples=12)
@given(
    versions,
    st.text("0123456789abcdef", min_size=6, max_size=6),
    texts,
    st.sets(st.sampled_from(["dcim.site", "ipam.vrf"]), min_size=1),
)
def test_tags_go_round(service: Service, version: str, color: str, description: str, types: set[str]) -> None:
    word = service.unique()
    body: Body = {"name": word, "slug": word, "color": color, "description": description}
    knows = not older(version, "1.3")
    body |= {"content_types": sorted(types)} if knows else {}
    shown = goes_round(service, TAGS, version, body)
    assert ("content_types" in shown) is knows
    service.api.delete(f"{TAGS}{shown['id']}/")


@settings(max_examples=12)
@given(versions, st.sampled_from(["active", "planned"]), texts, st.booleans())
def test_interfaces_go_round(
    service: Service, device: str, version: str, status: str, description: str, enabled: bool
) -> None:
    body = {
        "device": device,
        "name": service.unique(),
        "type": "virtual",
        "description": description,
        "enabled": enabled,
    }
    knows = not older(version, "1.4")
    shown = goes_round(service, INTERFACES, version, {**body, **({"status": status} if knows else {})})
    assert ("status" in shown) is knows
    assert service.api.get(f"{INTERFACES}{shown['id']}/")["status"]["value"] == (status if knows else "active")


@settings(max_examples=12)
@given(versions, st.integers(0, 3), texts)
def test_addresses_go_round(service: Service, version: str, outside: int, description: str) -> None:
    network = service.unique.ipv6()
    made = goes_round(
        service, ADDRESSES, version, {"address": f"{network}::1/64", "status": "active", "description": description}
    )
    bodies = [
        {"address": f"{network}::2:{number}/64", "status": "active", "nat_inside": made["id"]}
        for number in range(outside)
    ]
    others = [item["id"] for item in service.api.post(ADDRESSES, bodies)] if bodies else []
    path = f"{ADDRESSES}{made['id']}/"
    shown = service.api.get(path, version=version)
    service.api.put(path, shown, version=version)
    assert [item["id"] for item in service.api.get(path)["nat_outside"]] == others
    if older(version, "1.3"):
        assert (shown["nat_outside"] and shown["nat_outside"]["id"]) == (others[0] if others else None)


@settings(max_examples=12)
@given(versions, st.sampled_from(["text", "integer", "boolean"]), texts.filter(bool), st.booleans())
def test_custom_fields_go_round(service: Service, version: str, kind: str, label: str, named: bool) -> None:
    word = service.unique()
    body: Body = {"type": kind, "label": label, "name": word, "content_types": ["tenancy.tenant"]}
    if not (named and older(version, "1.4")):  # before, a name is enough
        body["slug"] = word
    if not older(version, "1.4"):
        del body["name"]
    shown = goes_round(service, FIELDS, version, body)
    assert service.api.get(f"{FIELDS}{shown['id']}/")["slug"] == word
    service.api.delete(f"{FIELDS}{shown['id']}/")


@given(versions, st.data(), st.booleans())
def test_downgrading_what_was_upgraded_gives_it_back(
    service: Service, version: str, data: st.DataObject, new: bool
) -> None:
    with_versions = [endpoint for endpoint in service.registry.endpoints.values() if endpoint.resource.versions]
    endpoint = data.draw(st.sampled_from(sorted(with_versions, key=lambda item: item.label)))
    former = {name for change in endpoint.resource.versions for name in change.former}
    unknown = absent(endpoint, version) | former if not new or not older(version, "1.4") else absent(endpoint, version)
    names = sorted(endpoint.writable.keys() - unknown)
    body = data.draw(st.dictionaries(st.sampled_from(names), st.one_of(st.none(), st.integers(), texts)))
    upgraded = upgrade(endpoint, version, body, new=new)
    back = downgrade(endpoint, version, {"nat_outside": [], **upgraded})
    assert {**back, **body} == back
    assert upgrade(endpoint, NEWEST, upgraded, new=False) == {
        key: value for key, value in upgraded.items() if key not in former
    }
