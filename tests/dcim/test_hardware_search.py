"""Search for MAC addresses, serial numbers, asset tags and AS numbers."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Samples, Service, Unique

SEARCH = "/api/search/"


def found(api: Api, text: str) -> dict[str, list[str]]:
    """The ids of each group by its resource."""
    groups = api.get(SEARCH, {"q": text, "limit": 50})["groups"]
    return {group["resource"]: [item["id"] for item in group["results"]] for group in groups}


@pytest.fixture
def device(service: Service) -> Any:
    """A device."""
    return Samples(service).make(service.registry["dcim.device"])


def test_a_mac_address_is_found_in_any_notation(api: Api, unique: Unique, device: Any) -> None:
    digits = f"02{unique.number():010x}"
    pairs = [digits[at : at + 2] for at in range(0, 12, 2)]
    body = {
        "device": device["id"],
        "name": "eth0",
        "type": "virtual",
        "status": "active",
        "mac_address": ":".join(pairs),
    }
    key = api.post("/api/dcim/interfaces/", body)["id"]
    dotted = ".".join(digits[at : at + 4] for at in range(0, 12, 4))
    for text in (":".join(pairs), "-".join(pairs).upper(), dotted, digits, ":".join(pairs[:5])):
        assert key in found(api, text)["dcim.interface"], text


def test_serial_numbers_and_asset_tags_are_found(api: Api, unique: Unique, device: Any) -> None:
    serial, tag = f"SN{unique()}", f"TAG{unique()}"
    api.patch(device["url"], {"serial": serial, "asset_tag": tag})
    for text in (serial, tag):
        assert found(api, text) == {"dcim.device": [device["id"]]}


def test_an_as_number_finds_sites_and_providers(api: Api, unique: Unique) -> None:
    number = 4_200_000_000 + unique.number()
    site = api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "asn": number})["id"]
    provider = api.post("/api/circuits/providers/", {"name": unique(), "asn": number})["id"]
    for text in (f"AS{number}", f"as {number}"):
        assert found(api, text) == {"dcim.site": [site], "circuits.provider": [provider]}
