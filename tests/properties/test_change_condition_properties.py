"""Conditions of webhooks: what a filter says of the state before and after a change is what the list says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_testing import Service
from tests.support.rows import Row, Rows

SITES, WEBHOOKS, DELIVERIES = "/api/dcim/sites/", "/api/extras/webhooks/", "/api/extras/webhook-deliveries/"
STATUSES = ("active", "planned", "retired")
EVENTS = {"type_create": True, "type_update": True, "type_delete": True}
BEFORE, AFTER, EVERY = "before", "after", "every"


@pytest.fixture(scope="session")
def regions(service: Service) -> list[Row]:
    """A region, and one below it."""
    outer = service.api.post("/api/dcim/regions/", {"name": service.unique()})
    return [outer, service.api.post("/api/dcim/regions/", {"name": service.unique(), "parent": outer["id"]})]


@pytest.fixture(scope="session")
def tags(service: Service) -> list[Row]:
    """Two tags."""
    names = [service.unique() for _ in range(2)]
    bodies = [{"name": name, "slug": name, "content_types": ["dcim.site"]} for name in names]
    made: list[Row] = service.api.post("/api/extras/tags/", bodies)
    return made


@pytest.fixture(scope="session")
def sites(service: Service, regions: list[Row]) -> Rows:
    """Sites of one word."""
    word = service.unique()
    rows = [{"name": f"{word} {n}", "status": STATUSES[n % 3], "description": word} for n in range(6)]
    return Rows(SITES, {"name__isw": word}, service.api.post(SITES, rows))


def fields(regions: list[Row], tags: list[Row]) -> st.SearchStrategy[dict[str, Any]]:
    """Values of some fields of a site."""
    return st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(STATUSES),
            "facility": st.sampled_from(["", "a", "B", "ab"]),
            "asn": st.sampled_from([None, 1, 2]),
            "region": st.sampled_from([None, *(region["id"] for region in regions)]),
            "tags": st.lists(st.sampled_from([tag["id"] for tag in tags]), unique=True),
        },
    )


def filters(regions: list[Row], tags: list[Row]) -> st.SearchStrategy[dict[str, Any]]:
    """Filters of sites by these fields, of which each name has one or more values."""
    slugs = [region["slug"] for region in regions]
    values: dict[str, list[Any]] = {
        "status": list(STATUSES),
        "status__n": list(STATUSES),
        "facility": ["a", "B", "ab"],
        "facility__ic": ["A", "b"],
        "facility__nisw": ["a"],
        "asn": [1, 2],
        "asn__gte": [2],
        "asn__n": [1],
        "region": slugs,
        "region__n": slugs,
        "region_id": [region["id"] for region in regions],
        "tag": [tag["slug"] for tag in tags],
        "q": ["ab"],
    }
    names = st.lists(st.sampled_from(list(values)), min_size=1, max_size=2, unique=True)
    single = {"q"}

    def some(name: str) -> st.SearchStrategy[Any]:
        chosen = st.sampled_from(values[name])
        return chosen if name in single else st.one_of(chosen, st.lists(chosen, min_size=1, max_size=2, unique=True))

    return names.flatmap(lambda chosen: st.fixed_dictionaries({name: some(name) for name in chosen}))


@pytest.fixture(scope="session")
def webhooks(service: Service) -> Iterator[dict[str, Row]]:
    """A webhook for each state, and one that is told of every change."""
    common = {"content_types": ["dcim.site"], **EVENTS}
    bodies = [
        {"name": name, "payload_url": f"http://{name}.example.com/"} for name in (service.unique() for _ in "123")
    ]
    made = service.api.post(WEBHOOKS, [{**common, **body} for body in bodies])
    yield dict(zip((BEFORE, AFTER, EVERY), made, strict=True))
    for webhook in made:
        service.api.delete(webhook["url"])


@settings(max_examples=30)
@given(data=st.data())
def test_a_condition_says_of_a_state_what_the_list_says_of_it(
    service: Service, sites: Rows, regions: list[Row], tags: list[Row], webhooks: dict[str, Row], data: st.DataObject
) -> None:
    query = data.draw(filters(regions, tags))
    conditions = [{"id": webhooks[part]["id"], "conditions": {part: query}} for part in (BEFORE, AFTER)]
    service.api.patch(WEBHOOKS, conditions)
    seen: dict[str, set[tuple[str, str]]] = {name: told(service, webhook) for name, webhook in webhooks.items()}

    def new() -> dict[str, set[tuple[str, str]]]:
        """What the webhooks were told since then: actions and ids."""
        found = {name: told(service, webhook) - seen[name] for name, webhook in webhooks.items()}
        for name, deliveries in found.items():
            seen[name] |= deliveries
        return {name: {key for _, key in deliveries} for name, deliveries in found.items()}

    before = sites.found(service, **query)
    changes = [{"id": row["id"], **data.draw(fields(regions, tags))} for row in sites]
    service.api.patch(SITES, changes)
    after, found = sites.found(service, **query), new()
    assert (found[BEFORE], found[AFTER]) == (found[EVERY] & before, found[EVERY] & after)

    name = {"name": f"{sites.scope['name__isw']} {service.unique()}", "status": "active"}
    made = service.api.post(SITES, {**name, **data.draw(fields(regions, tags))})
    is_listed, found = made["id"] in sites.found(service, **query), new()
    assert (found[BEFORE], found[AFTER]) == (set(), {made["id"]} if is_listed else set())
    service.api.delete(made["url"])
    found = new()
    assert (found[BEFORE], found[AFTER]) == ({made["id"]} if is_listed else set(), set())


def told(service: Service, webhook: Row) -> set[tuple[str, str]]:
    """The deliveries of a webhook: their ids, and those of the objects."""
    found = service.api.get(DELIVERIES, {"webhook_id": webhook["id"], "limit": 0})["results"]
    return {(item["id"], item["changed_object_id"]) for item in found}
