"""Importing a NetBox dump: made-up dumps for each rule, and the public demonstration inventory where it is at hand.

The demonstration inventory is looked for where ``NETINV_DUMP`` says, else in ``../shared/data`` beside the repository.
"""

from __future__ import annotations

import collections
import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from netinv_core.changelog.models import ObjectChange
from netinv_core.environment import Environment
from netinv_import.commands import import_
from netinv_import.netbox import CREATED, DERIVED, REFUSED, SKIPPED, UNCHANGED, UPDATED, ImportReport
from netinv_testing import Api, Service
from tests.support.databases import migrated_database
from tests.support.dumps import DUMP, item, load, named

APPLICATIONS = {"circuits", "dcim", "ipam", "tenancy", "virtualization"}
WORKED_OUT = {"dcim.cablepath"}
EXTRAS = {"extras.customfield"}


def objects() -> list[dict[str, Any]]:
    """The objects of the demonstration inventory."""
    found: list[dict[str, Any]] = json.loads(DUMP.read_bytes())
    return found


def taken() -> dict[str, int]:
    """How many objects of each model of the applications it has."""
    counts = collections.Counter(item["model"] for item in objects())
    return {
        label: n
        for label, n in counts.items()
        if (label.partition(".")[0] in APPLICATIONS and label not in WORKED_OUT) or label in EXTRAS
    }


def found(api: Api, path: str, name: str) -> Any:
    """The one object of a name."""
    (only,) = api.get(path, {"name": name})["results"]
    return only


# -- the rules


def test_a_second_run_changes_nothing_and_a_third_updates_what_changed(
    run: Any, api: Api, unique: Any, service: Service
) -> None:
    name = unique()
    site = named("dcim.site", 1, name, status="active", facility="A")
    assert run(site).outcomes == {("dcim.site", 1): CREATED}
    before = found(api, "/api/dcim/sites/", name)
    assert run(site).outcomes == {("dcim.site", 1): UNCHANGED}
    assert found(api, "/api/dcim/sites/", name) == before
    site["fields"]["facility"] = "B"
    assert run(site).outcomes == {("dcim.site", 1): UPDATED}
    after = found(api, "/api/dcim/sites/", name)
    assert (after["id"], after["facility"]) == (before["id"], "B")
    changes = sa.select(ObjectChange.action, ObjectChange.user_name).where(
        ObjectChange.changed_object_id == uuid.UUID(after["id"])
    )
    assert sorted(service.rows(changes)) == [("create", service.admin.username), ("update", service.admin.username)]


def test_parents_come_before_their_children_whatever_the_order_of_the_file(run: Any, api: Api, unique: Any) -> None:
    names = [unique() for _ in range(4)]
    regions = [named("dcim.region", n, name, parent=n + 1 if n < 3 else None) for n, name in enumerate(names)]
    assert set(run(*regions).outcomes.values()) == {CREATED}
    assert found(api, "/api/dcim/regions/", names[0])["_depth"] == 3


def test_objects_that_refer_to_each_other_form_a_circle_and_are_refused(run: Any, unique: Any) -> None:
    first, second = (named("dcim.region", n, unique(), parent=3 - n) for n in (1, 2))
    report = run(
        first, second, named("dcim.region", 3, unique(), parent=1), named("dcim.region", 4, unique(), parent=None)
    )
    assert [report.outcomes["dcim.region", n] for n in (1, 2, 3, 4)] == [REFUSED, REFUSED, REFUSED, CREATED]
    assert report.reasons["dcim.region", 1] == "refers to dcim.region 2, which was part of a circle"


def test_custom_fields_come_before_their_values_and_choices_become_objects(run: Any, api: Api) -> None:
    name = f"cf{uuid.uuid4().hex[:8]}"
    fields = {
        "label": "",
        "description": "",
        "required": False,
        "filter_logic": "loose",
        "weight": 100,
        "validation_regex": "",
    }
    field = item(
        *("extras.customfield", 1),
        **{
            **fields,
            "type": "multiselect",
            "name": name,
            "default": ["b"],
            "choices": '["b", "a"]',
            "content_types": [["tenancy", "tenant"], ["no", "such"]],
        },
    )
    tenants = [
        named("tenancy.tenant", n, f"{name} {n}", custom_field_data=data)
        for n, data in enumerate(({name: ["a", "b"]}, {name: None}, {}))
    ]
    report = run(*tenants, field)
    assert set(report.outcomes.values()) == {CREATED} and not report.left_out and not report.incomplete
    (shown,) = api.get("/api/extras/custom-fields/", {"name": name})["results"]
    assert (shown["type"]["value"], shown["label"], shown["default"], shown["content_types"]) == (
        "multi-select",
        name,
        ["b"],
        ["tenancy.tenant"],
    )
    choices = api.get("/api/extras/custom-field-choices/", {"field": name})["results"]
    assert [choice["value"] for choice in choices] == ["b", "a"]
    values = [found(api, "/api/tenancy/tenants/", f"{name} {n}")["custom_fields"][name] for n in range(3)]
    assert values == [["a", "b"], None, None]
    assert set(run(*tenants, field).outcomes.values()) == {UNCHANGED}
    tenants[0]["fields"]["custom_field_data"] = {name: ["a"]}
    assert run(*tenants, field).outcomes["tenancy.tenant", 0] == UPDATED
    api.delete(shown["url"])


def test_one_bad_object_does_not_stop_the_others(run: Any, api: Api, unique: Any) -> None:
    names = [unique() for _ in range(20)]
    tenants = [named("tenancy.tenant", n, name) for n, name in enumerate(names)]
    tenants[7]["fields"]["name"] = "x" * 101
    tenants[11]["fields"]["slug"] = "not a slug"
    report = run(*tenants)
    assert collections.Counter(report.outcomes.values()) == {CREATED: 18, REFUSED: 2}
    assert "no more than 100" in report.reasons["tenancy.tenant", 7]
    assert report.reasons["tenancy.tenant", 11].startswith("slug: ")
    assert found(api, "/api/tenancy/tenants/", names[19])


def test_what_refers_to_a_refused_object_is_refused_too(run: Any, unique: Any) -> None:
    report = run(
        named("tenancy.tenantgroup", 1, "y" * 101),
        named("tenancy.tenant", 1, unique(), group=1),
        named("tenancy.tenant", 2, unique(), group=9),
    )
    assert report.reasons["tenancy.tenant", 1] == "refers to tenancy.tenantgroup 1, which was refused"
    assert report.reasons["tenancy.tenant", 2] == "refers to tenancy.tenantgroup 9, which was not in the dump"


def test_an_object_that_is_already_here_is_taken_for_the_one_of_the_dump(run: Any, api: Api, unique: Any) -> None:
    name = unique()
    tenant = api.post("/api/tenancy/tenants/", {"name": name})
    report = run(named("tenancy.tenant", 5, name, description="from there"))
    assert report.outcomes == {("tenancy.tenant", 5): UPDATED}
    assert api.get(f"/api/tenancy/tenants/{tenant['id']}/")["description"] == "from there"


def test_prefixes_and_addresses_are_recognised_by_their_value(run: Any, api: Api) -> None:
    made = [
        api.post("/api/ipam/prefixes/", {"prefix": "198.51.100.0/26", "status": "active"}),
        api.post("/api/ipam/ip-addresses/", {"address": "198.51.100.5/26", "status": "active"}),
        api.post("/api/ipam/rirs/", {"name": "RIR of an aggregate", "slug": "rir-of-an-aggregate"}),
    ]
    made.append(api.post("/api/ipam/aggregates/", {"prefix": "198.51.100.0/24", "rir": made[2]["id"]}))
    report = run(
        item("ipam.prefix", 1, prefix="198.51.100.0/26", status="active", vrf=None),
        item("ipam.ipaddress", 1, address="198.51.100.5/26", status="active", vrf=None),
        named("ipam.rir", 1, "RIR of an aggregate"),
        item("ipam.aggregate", 1, prefix="198.51.100.0/24", rir=1),
    )
    assert set(report.outcomes.values()) == {UNCHANGED}, report.reasons
    assert all(api.get(shown["url"]) for shown in made)


def test_two_inventories_with_the_same_keys_stay_apart(run: Any, api: Api, unique: Any) -> None:
    first, second = unique(), unique()
    run(named("tenancy.tenant", 1, first), origin=unique())
    run(named("tenancy.tenant", 1, second), origin=unique())
    assert found(api, "/api/tenancy/tenants/", first)["id"] != found(api, "/api/tenancy/tenants/", second)["id"]


def test_what_has_no_resource_is_skipped_and_what_has_no_field_is_counted(run: Any, unique: Any) -> None:
    field = item("extras.customfield", 1, name=f"f_{unique()}", type="text", content_types=[], search_weight=7)
    report = run(named("other.thing", 1, unique()), field)
    assert report.outcomes == {("other.thing", 1): SKIPPED, ("extras.customfield", 1): CREATED}
    assert report.left_out == {("extras.customfield", "search_weight", "no such field here"): 1}


def test_the_package_is_named_that_would_import_an_object(run: Any) -> None:
    report = run(item("ipam.iprange", 1, start_address="192.0.2.1/24", end_address="192.0.2.9/24", status="active"))
    assert report.reasons["ipam.iprange", 1] == "install netinv-ip-ranges to import ranges of addresses"


def test_permissions_of_the_importing_user_apply(run: Any, make_user: Any, unique: Any) -> None:
    user = make_user(("add change view", "tenancy.tenant"))
    report = run(
        named("tenancy.tenantgroup", 1, unique()), named("tenancy.tenant", 1, unique()), username=user.username
    )
    assert report.outcomes == {("tenancy.tenantgroup", 1): REFUSED, ("tenancy.tenant", 1): CREATED}
    assert report.reasons["tenancy.tenantgroup", 1] == "You do not have permission to perform this action."


def test_tags_and_tagged_items(run: Any, api: Api, unique: Any) -> None:
    tag, name = unique(), unique()
    items = [
        named("extras.tag", 1, tag, color="00ff00"),
        named("tenancy.tenant", 1, name),
        item("extras.taggeditem", 1, content_type=["tenancy", "tenant"], object_id=1, tag=1),
        item("extras.taggeditem", 2, content_type=["circuits", "circuit"], object_id=1, tag=1),
    ]
    report = run(*items)
    assert report.outcomes["extras.taggeditem", 1] == CREATED
    assert report.outcomes["extras.taggeditem", 2] == SKIPPED
    assert [shown["name"] for shown in found(api, "/api/tenancy/tenants/", name)["tags"]] == [tag]
    assert collections.Counter(run(*items).outcomes.values()) == {UNCHANGED: 3, SKIPPED: 1}


def _device(unique: Any, key: int, **fields: Any) -> list[dict[str, Any]]:
    """A device and what it stands on."""
    return [
        named("dcim.site", 1, unique(), status="active"),
        named("dcim.manufacturer", 1, unique()),
        item("dcim.devicetype", 1, manufacturer=1, model=unique(), slug=unique(), u_height=1),
        named("dcim.devicerole", 1, unique(), color="ffffff"),
        item("dcim.device", key, name=unique(), device_type=1, device_role=1, site=1, status="active", **fields),
    ]


def test_references_that_go_both_ways_are_set_last(run: Any, api: Api, unique: Any) -> None:
    items = [
        *_device(unique, 1, primary_ip4=1, virtual_chassis=1, vc_position=1),
        item("dcim.virtualchassis", 1, name=unique(), domain="", master=1),
        item("dcim.interface", 1, device=1, name="lag1", type="lag", lag=None),
        item("dcim.interface", 0, device=1, name="eth0", type="1000base-t", lag=1),
        item(
            "ipam.ipaddress",
            1,
            address="192.0.2.1/24",
            status="active",
            assigned_object_type=["dcim", "interface"],
            assigned_object_id=0,
        ),
    ]
    assert set(run(*items).outcomes.values()) == {CREATED}
    device = found(api, "/api/dcim/devices/", items[4]["fields"]["name"])
    assert device["primary_ip4"]["address"] == "192.0.2.1/24"
    chassis = api.get(device["virtual_chassis"]["url"])
    assert chassis["master"]["id"] == device["id"]
    interface = api.get("/api/dcim/interfaces/", {"device_id": device["id"], "name": "eth0"})["results"][0]
    assert interface["lag"]["name"] == "lag1"
    assert set(run(*items).outcomes.values()) == {UNCHANGED}


def test_a_device_has_the_interfaces_of_the_dump_and_none_from_its_type(run: Any, api: Api, unique: Any) -> None:
    items = [
        *_device(unique, 1),
        item("dcim.interfacetemplate", 1, device_type=1, name="eth0", type="1000base-t", mgmt_only=False),
        item("dcim.interfacetemplate", 2, device_type=1, name="removed", type="1000base-t", mgmt_only=False),
        item("dcim.interface", 1, device=1, name="eth0", type="1000base-t"),
    ]
    assert set(run(*items).outcomes.values()) == {CREATED}
    device = found(api, "/api/dcim/devices/", items[4]["fields"]["name"])
    shown = api.get("/api/dcim/interfaces/", {"device_id": device["id"]})["results"]
    assert [interface["name"] for interface in shown] == ["eth0"]
    again = api.post(
        "/api/dcim/devices/",
        {**{name: device[name]["id"] for name in ("device_type", "device_role", "site")}, "status": "active"},
    )
    assert api.get("/api/dcim/interfaces/", {"device_id": again["id"]})["count"] == 2
    assert set(run(*items).outcomes.values()) == {UNCHANGED}


def test_what_netbox_computes_does_not_count_as_a_reference(run: Any, unique: Any) -> None:
    computed = {"_cable_peer_type": ["dcim", "interface"], "_cable_peer_id": 1}
    items = [
        named("dcim.region", 1, unique(), _cable_peer_type=["dcim", "site"], _cable_peer_id=1),
        named("dcim.site", 1, unique(), status="active", region=1, **computed),
    ]
    assert set(run(*items).outcomes.values()) == {CREATED}


def test_files_that_the_dump_only_names_are_reported(run: Any, unique: Any) -> None:
    items = _device(unique, 1)
    items[2]["fields"] |= {"front_image": "devicetype-images/front.png", "rear_image": ""}
    report = run(*items)
    assert set(report.outcomes.values()) == {CREATED}
    assert list(report.left_out) == [("dcim.devicetype", "front_image", "the dump names the file and does not have it")]


def test_a_reference_refused_at_the_end_is_listed(run: Any, api: Api, unique: Any) -> None:
    address = item(
        "ipam.ipaddress", 1, address="192.0.2.9/24", status="active", assigned_object_type=None, assigned_object_id=None
    )
    report = run(*_device(unique, 1, primary_ip4=1), address)
    assert report.outcomes["dcim.device", 1] == CREATED
    ((key, reason),) = report.incomplete
    assert key == ("dcim.device", 1) and reason.startswith("primary_ip4: ")


def test_locations_with_one_slug_at_two_sites(run: Any, api: Api, unique: Any) -> None:
    slug = unique()
    sites = [named("dcim.site", n, unique(), status="active") for n in (1, 2)]
    rows = [item("dcim.location", n, name="Row", slug=slug, site=n, parent=None) for n in (1, 2)]
    below = item("dcim.location", 3, name="Cage", slug=unique(), site=1, parent=1)
    report = run(below, *sites, *rows)
    assert set(report.outcomes.values()) == {CREATED}, report.reasons
    assert list(report.added) == [("dcim.locationtype", "netbox-location")]
    shown = api.get("/api/dcim/locations/", {"slug": below["fields"]["slug"]})["results"][0]
    assert shown["parent"]["slug"] == f"{sites[0]['fields']['slug']}-{slug}"
    assert shown["parent"]["name"] == f"Row ({sites[0]['fields']['name']})"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not a dump"),
        (b'[{"model": "dcim.site"}]', "is not a dump"),
        (
            b'[{"model": "dcim.site", "pk": 1, "fields": {}}, {"model": "dcim.site", "pk": 1, "fields": {}}]',
            "has dcim.site 1 twice",
        ),
    ],
)
def test_a_file_that_is_no_dump(service: Service, tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "dump.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        load(service, path)


# -- the command


@pytest.fixture
def command(service: Service, tmp_path: Path) -> Any:
    """``command(items, *options)``: what ``netinv import netbox`` answers for a dump of these objects."""
    ini = tmp_path / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    ini.write_text(
        f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\nnetinv.secret = for tests only, of 32 characters\n"
    )

    def invoke(items: list[dict[str, Any]], *options: str) -> Any:
        path = tmp_path / "dump.json"
        path.write_text(json.dumps(items))
        words = ["netbox", str(path), "--user", service.admin.username, *options]
        return CliRunner().invoke(import_, words, obj=Environment(str(ini)))

    return invoke


@pytest.mark.night
def test_the_command_prints_a_row_for_each_model(command: Any, api: Api, unique: Any) -> None:
    name = unique()
    items = [named("tenancy.tenant", 1, name), named("other.thing", 1, unique())]
    dry = command(items, "--dry-run", "--origin", unique())
    assert dry.exit_code == 0 and "nothing was changed" in dry.output
    assert api.get("/api/tenancy/tenants/", {"name": name})["count"] == 0
    done = command(items, "--origin", unique())
    assert done.exit_code == 0, done.output
    assert "tenancy.tenant" in done.output and "skipped   1 objects of other.thing: no such resource yet" in done.output
    assert found(api, "/api/tenancy/tenants/", name)


def test_the_command_lists_what_was_refused_and_says_so_in_its_status(command: Any, unique: Any) -> None:
    done = command([named("tenancy.tenant", n, "z" * 101) for n in range(3)], "--limit", "2", "--origin", unique())
    assert done.exit_code == 1
    assert "refused   tenancy.tenant 1: name: Ensure this field has no more than 100 characters." in done.output
    assert "refused   tenancy.tenant: 1 more; --limit 0 lists all" in done.output


# -- the demonstration inventory


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[tuple[Service, ImportReport]]:
    """A service that holds the demonstration inventory and nothing else, and what the import reported."""
    if not DUMP.is_file():
        pytest.skip(f"there is no NetBox dump at {DUMP}; NETINV_DUMP may name another place")
    with migrated_database(tmp_path_factory.mktemp("import"), database_template) as engine:
        service = Service(engine)
        yield service, load(service, DUMP)


def test_every_object_of_the_dump_has_one_outcome(demo: tuple[Service, ImportReport]) -> None:
    _, report = demo
    inside, created = collections.Counter(item["model"] for item in objects()), taken()
    assert {label: counts.total() for label, counts in report.counts().items()} == dict(inside)
    assert {label: report.counts()[label][CREATED] for label in created} == created, [*report.reasons.items()][:5]
    assert (report.total(CREATED), report.total(REFUSED), report.incomplete) == (sum(created.values()), 0, [])
    assert {label for label, counts in report.counts().items() if counts[DERIVED]} == WORKED_OUT
    assert not report.left_out


@pytest.mark.night
def test_the_demonstration_inventory_is_served(demo: tuple[Service, ImportReport]) -> None:
    service, _ = demo
    api = service.api
    for label, number in taken().items():
        assert api.get(service.registry[label].path, {"limit": 1})["count"] == number, label
    device = found(api, "/api/dcim/devices/", "dmi01-akron-rtr01")
    assert (device["site"]["name"], device["rack"]["name"], device["position"]) == ("DM-Akron", "Comms closet", 4)
    assert device["tenant"]["name"] == "Dunder-Mifflin, Inc." and device["status"]["value"] == "active"
    assert api.get("/api/dcim/sites/", {"region": "north-america", "limit": 1})["count"] == 24
    lags = [shown["id"] for shown in api.get("/api/dcim/interfaces/", {"type": "lag", "limit": 0})["results"]]
    members = api.get("/api/dcim/interfaces/", {"lag_id": lags, "limit": 0})["results"]
    assert len(members) == 52 and all(shown["lag"]["device"]["id"] == shown["device"]["id"] for shown in members)


def test_the_custom_field_of_the_inventory_comes_with_its_values(demo: tuple[Service, ImportReport]) -> None:
    api = demo[0].api
    (field,) = api.get("/api/extras/custom-fields/")["results"]
    assert (field["slug"], field["label"], field["type"]["value"], field["content_types"]) == (
        "cust_id",
        "Customer ID",
        "text",
        ["tenancy.tenant"],
    )
    assert (field["filter_logic"]["value"], field["validation_regex"]) == ("exact", r"^[A-Z]{3}\d{2}$")
    inside = {
        item["fields"]["name"]: item["fields"]["custom_field_data"]
        for item in objects()
        if item["model"] == "tenancy.tenant"
    }
    shown = api.get("/api/tenancy/tenants/", {"limit": 0})["results"]
    assert {tenant["name"]: tenant["custom_fields"] for tenant in shown} == inside
    assert [tenant["name"] for tenant in api.get("/api/tenancy/tenants/", {"cf_cust_id": "DMI01"})["results"]] == [
        "Dunder-Mifflin, Inc."
    ]


def test_ends_are_connected_as_the_cable_paths_of_the_dump_say(demo: tuple[Service, ImportReport]) -> None:
    """Every path of the dump is found again from the cables alone, and both ends of every cable know each other."""
    api, inside = demo[0].api, {(item["model"], item["pk"]): item["fields"] for item in objects()}

    def name(kind: list[str], key: int) -> tuple[str, str, str]:
        fields = inside[".".join(kind), key]
        return ".".join(kind), inside["dcim.device", fields["device"]]["name"], fields["name"]

    shown = {}
    for label in ("dcim.interface", "dcim.powerport", "dcim.poweroutlet"):
        for end in api.get(demo[0].registry[label].path, {"limit": 0})["results"]:
            shown[label, end["device"]["name"], end["name"]] = end
    paths = [fields for (label, _), fields in inside.items() if label == "dcim.cablepath"]
    assert len(paths) == 104
    for path in paths:
        origin = shown[name(path["origin_type"], path["origin_id"])]
        far = origin["connected_endpoint"]
        assert (origin["connected_endpoint_type"], far["device"]["name"], far["name"]) == name(
            path["destination_type"], path["destination_id"]
        )
        assert origin["connected_endpoint_reachable"] is path["is_active"]
    cables = api.get("/api/dcim/cables/", {"limit": 0})["results"]
    assert len(cables) == 108
    assert all(cable[side]["cable"] == cable["id"] for cable in cables for side in ("termination_a", "termination_b"))


def test_the_change_record_has_one_row_for_each_object(demo: tuple[Service, ImportReport]) -> None:
    service, report = demo
    mine = sa.select(ObjectChange.changed_object_type, sa.func.count()).where(
        ObjectChange.user_name == service.admin.username, ObjectChange.action == "create"
    )
    rows = dict(map(tuple, service.rows(mine.group_by(ObjectChange.changed_object_type))))
    assert {label: rows[label] for label in taken()} == taken()
    assert rows["dcim.locationtype"] == len(report.added) == 1


@pytest.mark.night
def test_importing_it_again_changes_nothing(demo: tuple[Service, ImportReport]) -> None:
    service, first = demo
    tables = [service.registry[label].table for label in taken()]
    before = [service.rows(sa.select(table).order_by(table.c.id)) for table in tables]
    changes = service.rows(sa.select(sa.func.count()).select_from(ObjectChange))
    again = load(service, DUMP)
    assert (again.total(UNCHANGED), again.total(SKIPPED)) == (first.total(CREATED), first.total(SKIPPED))
    assert [service.rows(sa.select(table).order_by(table.c.id)) for table in tables] == before
    assert service.rows(sa.select(sa.func.count()).select_from(ObjectChange)) == changes
