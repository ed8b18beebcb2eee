"""A list with everything that users can add to it: custom fields, tags, relationships, computed fields, config
contexts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Unique
from tests.support.cabling_fixtures import Plant

DEVICES = "/api/dcim/devices/"
MAX = 14  # statements, for any number of devices


@pytest.fixture
def extended(api: Api, unique: Unique) -> Iterator[str]:
    """Devices have a custom field, a computed field and relationships to tenants and among themselves; the word by
    which all of these are called.
    """
    word = unique().replace("-", "_").lower()
    of_devices = {"name": word, "slug": word, "source_type": "dcim.device"}
    bodies = {
        "custom-fields": {"type": "text", "label": word, "slug": word, "content_types": ["dcim.device"]},
        "computed-fields": {
            "label": word,
            "slug": word,
            "content_type": "dcim.device",
            "template": "{{ obj.site.name }} {{ obj.status.slug }} {{ obj.tags | length }}",
        },
        "relationships": {**of_devices, "destination_type": "tenancy.tenant", "source_filter": {"status": ["active"]}},
        "config-contexts": {"name": word, "data": {word: 1}},
    }
    made = [api.post(f"/api/extras/{name}/", body)["url"] for name, body in bodies.items()]
    peers = {
        **of_devices,
        "name": f"{word}_peers",
        "slug": f"{word}_peers",
        "type": "symmetric-many-to-many",
        "destination_type": "dcim.device",
    }
    made.append(api.post("/api/extras/relationships/", peers)["url"])
    yield word
    for url in made:
        api.delete(url)


def test_it_takes_few_statements_however_many_objects(
    api: Api, unique: Unique, extended: str, make: Any, statements: Any
) -> None:
    tag, tenants = (
        make("/api/extras/tags/", content_types=["dcim.device"]),
        [make("/api/tenancy/tenants/")["id"] for _ in range(3)],
    )
    hardware = Plant(api, unique).hardware
    more = {
        "tags": [tag["id"]],
        "custom_fields": {extended: "x"},
        "relationships": {extended: {"destination": {"objects": tenants}}},
    }
    devices = api.post(DEVICES, [{"name": unique(), **hardware, **more} for _ in range(30)])
    first, *others = (device["id"] for device in devices)
    api.patch(DEVICES + f"{first}/", {"relationships": {f"{extended}_peers": {"peer": {"objects": others}}}})

    def read(some: list[str]) -> tuple[int, list[Any]]:
        query = {"id": some, "include": ["relationships", "computed_fields"], "limit": 50}
        api.get(DEVICES, query)  # definitions are read once
        with statements() as found:
            shown = api.get(DEVICES, query)["results"]
        return len(found), shown

    (one, _), (many, shown) = read([first]), read([first, *others])
    assert one == many <= MAX
    for device in shown:
        assert (
            device["custom_fields"][extended] == "x"
            and device["config_context"][extended] == 1
            and device["tags"][0]["id"] == tag["id"]
        )
        assert device["computed_fields"][extended].endswith(" active 1")
        assert len(device["relationships"][extended]["destination"]["objects"]) == 3
        assert len(device["relationships"][f"{extended}_peers"]["peer"]["objects"]) == (
            29 if device["id"] == first else 1
        )
