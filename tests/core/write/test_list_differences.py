"""Lists changed by difference: ``{"add": [...], "remove": [...]}`` in place of the whole list."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Service, Unique
from tests.support.threads import at_once

TENANTS, TAGS, SITES = "/api/tenancy/tenants/", "/api/extras/tags/", "/api/dcim/sites/"
CLIENTS = 32


@pytest.fixture(scope="session")
def tags(service: Service) -> list[Any]:
    """As many tags as there are clients."""
    names = [service.unique() for _ in range(CLIENTS)]
    bodies = [{"name": name, "slug": name, "content_types": ["tenancy.tenant", "dcim.site"]} for name in names]
    made: list[Any] = service.api.post(TAGS, bodies)
    return made


def slugs(item: Any) -> list[str]:
    """The tags of an object."""
    return sorted(tag["slug"] for tag in item["tags"])


def test_tags_are_added_and_removed_by_id_or_attributes(api: Api, unique: Unique, tags: list[Any]) -> None:
    one, two, three = (tag["slug"] for tag in tags[:3])
    tenant = api.post(TENANTS, {"name": unique(), "tags": [{"slug": one}, {"slug": two}]})
    changed = api.patch(tenant["url"], {"tags": {"add": [{"slug": three}], "remove": [tags[0]["id"]]}})
    assert slugs(changed) == sorted([two, three])
    (listed,) = api.patch(TENANTS, [{"id": tenant["id"], "tags": {"add": [tags[0]], "remove": [{"slug": two}]}}])
    assert slugs(listed) == sorted([one, three])
    history = api.get(f"{tenant['url']}history/")["results"]
    assert [entry["changes"][0]["field"] for entry in history[:2]] == ["tags", "tags"]


def test_adding_what_is_there_and_removing_what_is_not_changes_nothing(
    api: Api, unique: Unique, tags: list[Any]
) -> None:
    tenant = api.post(TENANTS, {"name": unique(), "tags": [tags[0]["id"]]})
    same = api.patch(tenant["url"], {"tags": {"add": [tags[0]["id"]], "remove": [tags[1]["id"]]}})
    assert slugs(same) == slugs(tenant)
    assert api.get(f"{tenant['url']}history/")["count"] == 1


def test_a_new_object_gets_what_is_added(api: Api, unique: Unique, tags: list[Any]) -> None:
    tenant = api.post(TENANTS, {"name": unique(), "tags": {"add": [tags[0]["id"]], "remove": [tags[1]["id"]]}})
    assert slugs(tenant) == [tags[0]["slug"]]


@pytest.mark.parametrize(
    ("difference", "message"),
    [
        ({"add": [], "append": []}, "A list is changed by 'add' and 'remove'; 'append' is neither."),
        ({"add": "x"}, "'add' takes a list, not a str."),
        ({"remove": [{"slug": "no such tag"}]}, "Related object not found"),
        ({"add": ["nonsense"]}, "Related objects must be referenced by ID"),
    ],
    ids=["unknown", "text", "missing", "no reference"],
)
def test_what_is_no_difference_is_refused_at_the_field(api: Api, unique: Unique, difference: Any, message: str) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    (answer,) = api.patch(tenant["url"], {"tags": difference}, status=400)["tags"]
    assert answer.startswith(message)


def test_an_item_is_not_both_added_and_removed(api: Api, unique: Unique, tags: list[Any]) -> None:
    tenant, items = api.post(TENANTS, {"name": unique()}), [tags[0]["id"]]
    refused = api.patch(tenant["url"], {"tags": {"add": items, "remove": items}}, status=400)
    assert refused == {"tags": [f"An item is either added or removed: '{items[0]}'."]}


def test_put_takes_the_whole_list(api: Api, unique: Unique, tags: list[Any]) -> None:
    tenant = api.post(TENANTS, {"name": unique()})
    refused = api.put(tenant["url"], {"name": tenant["name"], "tags": {"add": [tags[0]["id"]]}}, status=400)
    assert refused == {"tags": ["PUT takes the whole list; 'add' and 'remove' change it with PATCH."]}


def test_tags_of_all_clients_survive(service: Service, api: Api, unique: Unique, tags: list[Any]) -> None:
    """Each client adds one tag, in bodies of one object and of a list, and half of them remove one of the first."""
    tenant = api.post(TENANTS, {"name": unique(), "tags": [tags[0]["id"]]})

    def add(number: int) -> Any:
        client, body = Api(service.app, api.token), {"tags": {"add": [tags[number]["id"]]}}
        if number == 0:
            return client.patch(tenant["url"], {"tags": {"remove": [tags[0]["id"]]}})
        if number % 2:
            return client.patch(TENANTS, [{"id": tenant["id"], **body}])
        return client.patch(tenant["url"], body)

    at_once(add, CLIENTS)
    assert slugs(api.get(tenant["url"])) == sorted(tag["slug"] for tag in tags[1:])


def test_a_hidden_item_of_the_list_stays(service: Service, unique: Unique, tags: list[Any]) -> None:
    hidden, shown = tags[0], tags[1]
    site = service.api.post(SITES, {"name": unique(), "status": "active", "tags": [hidden["id"]]})
    user = service.user(("view change", "dcim.site"), ("view", "extras.tag", {"slug": shown["slug"]}))
    user.api.patch(site["url"], {"tags": {"add": [{"slug": shown["slug"]}]}})
    assert slugs(service.api.get(site["url"])) == sorted([hidden["slug"], shown["slug"]])
    refused = user.api.patch(site["url"], {"tags": {"remove": [{"slug": hidden["slug"]}]}}, status=400)
    assert list(refused) == ["tags"]


def test_the_choices_of_a_custom_field(api: Api, unique: Unique) -> None:
    slug = unique().replace("-", "_")
    field = api.post(
        "/api/extras/custom-fields/",
        {"name": slug, "slug": slug, "label": slug, "type": "multi-select", "content_types": ["tenancy.tenant"]},
    )
    for value in ("red", "green", "blue"):
        api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": value})
    tenant = api.post(TENANTS, {"name": unique(), "custom_fields": {slug: ["red", "green"]}})
    changed = api.patch(tenant["url"], {"custom_fields": {slug: {"add": ["blue"], "remove": ["red"]}}})
    assert changed["custom_fields"][slug] == ["green", "blue"]
    refused = api.patch(tenant["url"], {"custom_fields": {slug: {"add": ["pink"]}}}, status=400)
    assert f"custom field '{slug}'" in str(refused) and "pink" in str(refused)
    assert slug in str(api.patch(tenant["url"], {"custom_fields": {slug: {"add": [], "more": []}}}, status=400))


def test_the_objects_of_a_relationship(api: Api, unique: Unique) -> None:
    slug = unique().replace("-", "_")
    api.post(
        "/api/extras/relationships/",
        {
            "name": slug,
            "slug": slug,
            "type": "many-to-many",
            "source_type": "tenancy.tenant",
            "destination_type": "dcim.site",
        },
    )
    sites = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(3)])
    tenant = api.post(TENANTS, {"name": unique()})

    def change(difference: Any, **options: Any) -> Any:
        side = {"destination": {"objects": difference}}
        return api.patch(tenant["url"], {"relationships": {slug: side}}, **options)

    def names(item: Any) -> list[str]:
        return sorted(site["id"] for site in item["relationships"][slug]["destination"]["objects"])

    first, second, third = (site["id"] for site in sites)
    assert names(change([first, second])) == sorted([first, second])
    assert names(change({"add": [{"name": sites[2]["name"]}], "remove": [first]})) == sorted([second, third])
    assert list(change({"add": [], "more": []}, status=400)) == ["relationships"]


def test_statements_do_not_grow_with_the_number_of_objects(
    api: Api, unique: Unique, tags: list[Any], statements: Any
) -> None:
    tenants = api.post(TENANTS, [{"name": unique()} for _ in range(20)])
    counts = []
    for some in (tenants[:1], tenants[1:]):
        with statements() as found:
            api.patch(TENANTS, [{"id": item["id"], "tags": {"add": [tags[0]["id"]]}} for item in some])
        counts.append(len(found))
    assert counts[0] == counts[1]
