"""Upsert: PATCH of a list with ``?match=`` creates what is missing, changes what differs, and leaves what is equal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from netinv_core.write.upsert import identifies
from netinv_testing import Api, Service, Unique
from tests.support.databases import migrated_database
from tests.support.threads import at_once

TENANTS, SITES, TAGS, GROUPS = (
    "/api/tenancy/tenants/",
    "/api/dcim/sites/",
    "/api/extras/tags/",
    "/api/tenancy/tenant-groups/",
)
RACKS, PREFIXES, REGIONS = "/api/dcim/racks/", "/api/ipam/prefixes/", "/api/dcim/regions/"
CLIENTS, BUDGET = 32, 8


def upsert(api: Api, path: str, match: str, bodies: Any, **options: Any) -> Any:
    """The results of an upsert."""
    query = {"match": match, **options.pop("query", {})}
    return api.patch(path, bodies, query=query, **options)


def statuses(results: Any) -> list[str]:
    """The statuses of the items."""
    return [result["status"] for result in results]


def history(api: Api, item: Any) -> int:
    """The number of change records of an object."""
    return int(api.get(f"{item['url']}history/")["count"])


def test_what_is_missing_is_created_what_differs_is_changed_and_what_is_equal_stays(api: Api, unique: Unique) -> None:
    equal, other = (api.post(TENANTS, {"name": unique(), "description": "old"}) for _ in range(2))
    bodies = [
        {"name": equal["name"], "description": "old"},
        {"name": other["name"], "description": "new"},
        {"name": unique(), "description": "new"},
    ]
    results = upsert(api, TENANTS, "name", bodies)
    assert statuses(results) == ["unchanged", "updated", "created"]
    assert [result["object"]["name"] for result in results] == [body["name"] for body in bodies]
    assert [result["object"]["id"] for result in results[:2]] == [equal["id"], other["id"]]
    assert [history(api, result["object"]) for result in results] == [1, 2, 1]
    again = upsert(api, TENANTS, "name", bodies)
    assert statuses(again) == ["unchanged"] * 3
    assert api.get(equal["url"])["last_updated"] == equal["last_updated"]


def test_objects_are_matched_by_several_fields_and_across_references(api: Api, unique: Unique) -> None:
    sites = api.post(SITES, [{"name": unique(), "status": "active"} for _ in range(2)])
    name = unique()
    bodies = [{"name": name, "site": {"name": site["name"]}, "status": "active", "u_height": 20} for site in sites]
    assert statuses(upsert(api, RACKS, "name,site", bodies)) == ["created", "created"]
    by_id = [{**body, "site": site["id"], "name": f" {name} "} for body, site in zip(bodies, sites, strict=True)]
    assert statuses(upsert(api, RACKS, "name,site", by_id)) == ["unchanged", "unchanged"]
    assert statuses(upsert(api, RACKS, "site,name", [bodies[0], {**bodies[1], "u_height": 30}])) == [
        "unchanged",
        "updated",
    ]
    assert api.get(RACKS, {"name": name})["count"] == 2


def test_lists_custom_fields_and_addresses_are_compared(api: Api, unique: Unique) -> None:
    tags = api.post(
        TAGS, [{"name": word, "slug": word, "content_types": ["ipam.prefix"]} for word in (unique(), unique())]
    )
    prefix = f"{unique.ipv6()}::/48"
    body = {"prefix": prefix, "status": "active", "tags": [{"slug": tag["slug"]} for tag in tags]}
    assert statuses(upsert(api, PREFIXES, "prefix", [body])) == ["created"]
    assert statuses(upsert(api, PREFIXES, "prefix", [{**body, "prefix": prefix.upper()}])) == ["unchanged"]
    added = {"prefix": prefix, "tags": {"add": [tags[0]["id"]]}}
    assert statuses(upsert(api, PREFIXES, "prefix", [added])) == ["unchanged"]
    (changed,) = upsert(api, PREFIXES, "prefix", [{"prefix": prefix, "tags": {"remove": [tags[0]["id"]]}}])
    assert changed["status"] == "updated" and [tag["slug"] for tag in changed["object"]["tags"]] == [tags[1]["slug"]]


def test_a_key_is_compared_as_it_is_stored(api: Api, unique: Unique) -> None:
    """DNS names in any case (RFC 4343)."""
    vrf = api.post("/api/ipam/vrfs/", {"name": unique(), "enforce_unique": False})["id"]
    body = {"address": "10.77.0.1/24", "vrf": vrf, "status": "active", "dns_name": f"Web.{unique().upper()}.Example"}
    path = "/api/ipam/ip-addresses/"
    assert statuses(upsert(api, path, "dns_name,vrf", [body])) == ["created"]
    assert statuses(upsert(api, path, "dns_name,vrf", [body])) == ["unchanged"]
    (made,) = api.get(path, {"vrf_id": vrf})["results"]
    assert made["dns_name"] == body["dns_name"].lower()


@pytest.mark.parametrize("names", ["", "nothing", "tags", "id", "name,slug,group,description,comments,a,b,c,d"])
def test_fields_that_cannot_identify_are_refused(api: Api, unique: Unique, names: str) -> None:
    assert list(upsert(api, TENANTS, names, [{"name": unique()}], status=400)) == ["match"]


def test_each_item_is_named_in_errors_and_nothing_is_written(api: Api, unique: Unique) -> None:
    tenant, word = api.post(TENANTS, {"name": unique(), "description": "same"}), unique()
    twins = api.post(TENANTS, [{"name": unique(), "description": word} for _ in range(2)])
    good = {"name": unique(), "description": unique()}
    missing = upsert(api, TENANTS, "name", [good, {"description": "x"}], status=400)
    assert missing == [{}, {"name": ["This field is required."]}]
    several = upsert(api, TENANTS, "description", [good, {"name": unique(), "description": word}], status=400)
    assert several[0] == {} and list(several[1]) == ["match"]
    repeated = upsert(api, TENANTS, "name", [good, dict(good)], status=400)
    assert repeated == [{}, {"match": ["Another item of the list has the same values."]}]
    wrong = upsert(
        api, TENANTS, "name", [good, {"name": tenant["name"], "group": {"name": "none"}}, "text"], status=400
    )
    assert "non_field_errors" in wrong[2]
    faults = [{"name": tenant["name"], "group": {"name": "none"}}, {"name": unique(), "slug": "/"}, good]
    assert [list(entry) for entry in upsert(api, TENANTS, "name", faults, status=400)][:2] == [["group"], ["slug"]]
    assert upsert(api, TENANTS, "group", [{"name": unique(), "group": None}], status=400)[0].keys() == {"match"}
    assert list(api.put(TENANTS, [good], query={"match": "name"}, status=400)) == ["match"]
    assert api.get(TENANTS, {"name": good["name"]})["count"] == 0
    assert {api.get(twin["url"])["description"] for twin in twins} == {word}


def test_each_item_needs_its_permission_and_reveals_nothing(service: Service, api: Api, unique: Unique) -> None:
    word = unique()
    shown, hidden = (api.post(TENANTS, {"name": f"{word} {part}"}) for part in ("shown", "hidden"))
    limits = {"name__endswith": "shown"}
    changing = service.user(("view change", "tenancy.tenant", limits)).api
    (result,) = upsert(changing, TENANTS, "name", [{"name": shown["name"], "description": "x"}])
    assert result["status"] == "updated"
    for name in (hidden["name"], unique()):  # an object that is hidden is like one that is missing
        upsert(changing, TENANTS, "name", [{"name": name, "description": "x"}], status=403)
    both = service.user(("view change add", "tenancy.tenant", {"description": word})).api
    assert upsert(both, TENANTS, "name", [{"name": unique(), "description": word}])[0]["status"] == "created"
    upsert(both, TENANTS, "name", [{"name": unique(), "description": "other"}], status=403)
    assert api.get(hidden["url"])["description"] == ""


def test_a_dry_run_shows_what_would_be_done(api: Api, unique: Unique) -> None:
    tenant, name = api.post(TENANTS, {"name": unique()}), unique()
    bodies = [{"name": tenant["name"], "description": "x"}, {"name": name}]
    preview = upsert(api, TENANTS, "name", bodies, query={"dry_run": "true"})
    assert statuses(preview["result"]) == ["updated", "created"]
    assert [change["action"] for change in preview["changes"]] in (["update", "create"], ["create", "update"])
    assert api.get(tenant["url"])["description"] == "" and api.get(TENANTS, {"name": name})["count"] == 0


def test_rows_of_a_table_are_matched(api: Api, unique: Unique) -> None:
    tenant, name = api.post(TENANTS, {"name": unique(), "description": "x"}), unique()
    text = f"name,description\n{tenant['name']},x\n{name},y\n".encode()
    answer = api.send("PATCH", f"{TENANTS}?match=name", text, headers={"Content-Type": "text/csv"}, status=200)
    assert statuses(answer.json) == ["unchanged", "created"]


def test_nodes_of_a_tree_are_created_and_moved(api: Api, unique: Unique) -> None:
    top, below = api.post(REGIONS, {"name": unique()}), api.post(REGIONS, {"name": unique()})
    bodies = [{"name": below["name"], "parent": {"name": top["name"]}}, {"name": unique(), "parent": top["id"]}]
    assert statuses(upsert(api, REGIONS, "name", bodies)) == ["updated", "created"]
    assert statuses(upsert(api, REGIONS, "name", bodies)) == ["unchanged", "unchanged"]


@pytest.mark.parametrize("match", ["name", "description"])
def test_clients_at_once_make_one_object(service: Service, api: Api, unique: Unique, match: str) -> None:
    """By a unique field, and by one that is not."""
    word, group = unique(), api.post(GROUPS, {"name": unique()})["id"]

    def send(number: int) -> Any:
        name = word if match == "name" else f"{word} {number}"
        body = {"name": name, "description": word, "group": group}
        return upsert(Api(service.app, api.token), TENANTS, match, [body], status=(200, 409))

    answers = at_once(send, CLIENTS)
    done = Counter(status for answer in answers if isinstance(answer, list) for status in statuses(answer))
    assert done["created"] == 1 and sum(done.values()) == CLIENTS, answers
    assert api.get(TENANTS, {"description": word})["count"] == 1


@pytest.mark.night
def test_a_thousand_equal_objects_take_few_statements(tmp_path: Path, database_template: str, unique: Unique) -> None:
    """As many as one; with references by name and tags. No custom field of another test takes one more."""
    with migrated_database(tmp_path, database_template) as engine:
        own_service = Service(engine)
        api, statements, word = own_service.api, own_service.statements, unique()
        group = api.post(GROUPS, {"name": word, "slug": word})
        tag = api.post(TAGS, {"name": word, "slug": word, "content_types": ["tenancy.tenant"]})
        bodies = [
            {
                "name": f"{word} {number}",
                "group": {"name": group["name"]},
                "description": "same",
                "tags": [tag["id"]],
            }
            for number in range(1000)
        ]
        assert statuses(upsert(api, TENANTS, "name", bodies)) == ["created"] * 1000
        counts = []
        for some in (bodies[:1], bodies):
            with statements() as found:
                results = upsert(api, TENANTS, "name", some)
            assert set(statuses(results)) == {"unchanged"}
            counts.append(len(found))
        assert counts[0] == counts[1] <= BUDGET, found
        for some in ([*bodies[1:3]], bodies[3:203]):
            with statements() as found:
                upsert(api, TENANTS, "name", [{**body, "description": unique()} for body in some])
            counts.append(len(found))
        assert counts[2] == counts[3]


@pytest.mark.night
def test_references_by_attributes_of_equal_objects_take_one_statement(
    tmp_path: Path, database_template: str, unique: Unique
) -> None:
    """Devices name site, role, type, rack and tenant by attributes, across references too."""
    with migrated_database(tmp_path, database_template) as engine:
        own_service = Service(engine)
        api, word = own_service.api, unique()
        site = api.post(SITES, {"name": word, "status": "active"})
        api.post(RACKS, {"name": word, "site": site["id"], "status": "active"})
        api.post(TENANTS, {"name": word, "slug": word})
        api.post("/api/dcim/device-roles/", {"name": word, "slug": word})
        maker = api.post("/api/dcim/manufacturers/", {"name": word, "slug": word})
        api.post("/api/dcim/device-types/", {"model": word, "manufacturer": maker["id"]})
        bodies = [
            {
                "name": f"{word} {number}",
                "site": {"name": word},
                "rack": {"name": word, "site": {"name": word}},
                "tenant": {"slug": word},
                "device_role": {"slug": word},
                "device_type": {"model": word, "manufacturer": {"slug": maker["slug"]}},
                "status": "active",
            }
            for number in range(1000)
        ]
        path = "/api/dcim/devices/"
        assert set(statuses(upsert(api, path, "name,site", bodies))) == {"created"}
        for some in (bodies[:1], bodies):
            with own_service.statements() as found:
                results = upsert(api, path, "name,site", some)
            assert set(statuses(results)) == {"unchanged"}
            assert len(found) <= BUDGET, found


@pytest.mark.parametrize("label", ["dcim.rack", "ipam.prefix"])
def test_values_of_any_kind_are_refused_item_by_item(service: Service, api: Api, label: str) -> None:
    """By every field that may identify an object; numbers beyond those of the column, and values of other types."""
    endpoint = service.registry[label]
    values = [
        None,
        "",
        -1,
        10**30,
        10**12,
        1.5,
        True,
        [],
        {},
        [1],
        {"id": 1},
        {"a": {}},
        "x" * 70000,
        {"name__ic": "x"},
    ]
    for name in filter(lambda name: identifies(endpoint, name), endpoint.writable):
        query = {"on_error": "continue"}
        results = upsert(api, endpoint.path, name, [{name: value} for value in values], query=query)
        assert set(statuses(results)) <= {"failed", "unchanged"}, results  # another test's object may be the only match
