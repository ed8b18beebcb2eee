"""The demo inventory: the command and the job that load it, and what is loaded."""

from __future__ import annotations

import collections
import random
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from netinv_core.environment import Environment
from netinv_demo import generator
from netinv_demo.commands import demo
from netinv_demo.company import SITES
from netinv_demo.plan import PlannedSite
from netinv_demo.size import MAX_DEVICES, MIN_DEVICES, DemoSize
from netinv_extras.jobs import models as job_models
from netinv_extras.jobs import runner
from netinv_testing import Api, Service
from netinv_web.testing import Browser
from tests.support.databases import migrated_database
from tests.support.jobs import logs, result, work

pytestmark = [pytest.mark.slow, pytest.mark.night]
COMPONENTS = (
    "interfaces", "power-ports", "power-outlets", "console-ports", "console-server-ports", "front-ports", "rear-ports",
)  # fmt: skip
Run = Callable[..., str]


def command_for(service: Service, folder: Path) -> Run:
    """Returns ``run(option, …)``, which invokes the command on the database of a service and returns its output."""
    ini = folder / "netinv.ini"
    url = service.engine.url.render_as_string(hide_password=False).replace("%", "%%")
    secret = "netinv.secret = for tests only, of 32 characters"
    ini.write_text(f"[app:main]\nuse = egg:netinv-core\nnetinv.database_url = {url}\n{secret}\n")

    def run(*options: str, status: int = 0) -> str:
        outcome = CliRunner().invoke(demo, list(options), obj=Environment(str(ini)))
        assert outcome.exit_code == status, outcome.output
        assert outcome.exception is None or isinstance(outcome.exception, SystemExit), outcome.output
        return outcome.output

    return run


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[tuple[Service, Run, str]]:
    """A service with the demo inventory beside another site and a role of its own, the command, and the output of its
    first run, which ``--force`` allows.
    """
    folder = tmp_path_factory.mktemp("demo")
    with migrated_database(folder, database_template) as engine:
        service = Service(engine)
        run = command_for(service, folder)
        site = service.api.post("/api/dcim/sites/", {"name": "Elsewhere", "status": "active"})["id"]
        role = {"name": "Router", "slug": "router", "color": "000000"}
        role = service.api.post("/api/dcim/device-roles/", role)["id"]
        maker = service.api.post("/api/dcim/manufacturers/", {"name": "Elsewhere", "slug": "elsewhere"})
        type_ = service.api.post("/api/dcim/device-types/", {"manufacturer": maker["id"], "model": "1", "slug": "1"})
        body = {"device_type": type_["id"], "device_role": role, "site": site, "status": "active"}
        made = [maker, type_, service.api.post("/api/dcim/devices/", body)]
        assert "--force" in run(status=1)
        for item in reversed(made):
            service.api.delete(item["url"])
        yield service, run, run("--force")


@pytest.fixture(scope="module")
def inventory(loaded: tuple[Service, Run, str]) -> Api:
    """An administrator's client of the service with the demo inventory."""
    return loaded[0].api


@pytest.fixture
def fresh(tmp_path: Path, database_template: str) -> Iterator[Service]:
    """A service on an empty database."""
    with migrated_database(tmp_path, database_template) as engine:
        yield Service(engine)


def count(api: Api, path: str, query: Any = ()) -> int:
    """Returns the number of objects of a list."""
    number: int = api.get(f"/api/{path}/", {**dict(query), "limit": 1})["count"]
    return number


def every(api: Api, path: str, query: Any = ()) -> list[Any]:
    """Returns all objects of a list, page by page."""
    objects: list[Any] = []
    while True:
        page = api.get(f"/api/{path}/", {**dict(query), "limit": 1000, "offset": len(objects)})
        objects += page["results"]
        if page["next"] is None:
            return objects


# -- what is loaded


def test_the_inventory_has_the_numbers_that_were_asked_for(inventory: Api) -> None:
    sizes = {"dcim/sites": 13, "dcim/racks": 40, "dcim/devices": 500}
    assert {path: count(inventory, path) for path in sizes} == sizes


@pytest.mark.parametrize(
    "path",
    [
        "tenancy/tenants", "tenancy/tenant-groups", "dcim/regions", "dcim/locations", "dcim/rack-reservations",
        "dcim/platforms", "dcim/virtual-chassis", "dcim/inventory-items", "dcim/power-panels", "dcim/power-feeds",
        "dcim/device-redundancy-groups", "dcim/interface-redundancy-groups", "dcim/device-bays", "ipam/rirs",
        "ipam/aggregates", "ipam/vrfs", "ipam/route-targets", "ipam/prefixes", "ipam/vlan-groups", "ipam/vlans",
        "ipam/ip-addresses", "ipam/services", "circuits/providers", "circuits/provider-networks",
        "circuits/circuit-types", "circuits/circuits", "virtualization/clusters", "virtualization/virtual-machines",
        "virtualization/interfaces", "extras/tags", "extras/custom-fields", "extras/config-contexts", "extras/notes",
        "extras/relationship-associations", "extras/dynamic-groups", "extras/custom-links", "extras/computed-fields",
        "extras/export-templates", "extras/webhooks",
    ],
)  # fmt: skip
def test_it_has_objects_of_every_kind_which_can_be_saved_again(inventory: Api, path: str) -> None:
    """Saving an object again runs its rules."""
    objects = inventory.get(f"/api/{path}/", {"limit": 3})["results"]
    assert objects != []
    for item in objects:
        inventory.patch(item["url"], {})


def test_every_device_is_in_a_rack_or_says_why_not(inventory: Api) -> None:
    devices = every(inventory, "dcim/devices")
    unracked = [device for device in devices if device["rack"] is None]
    assert {device["device_role"]["name"] for device in unracked} == {"Access point"}
    assert all("Not in a rack" in device["comments"] for device in unracked)
    without_position = {
        device["device_role"]["name"] for device in devices if device["rack"] and device["position"] is None
    }
    blades = [device for device in devices if device["parent_device"] is not None]
    assert len(blades) == 16 and all(blade["position"] is None for blade in blades)
    assert without_position == {"PDU", blades[0]["device_role"]["name"]}


def test_every_device_has_a_cable(inventory: Api) -> None:
    cabled = {
        item["device"]["id"] for path in COMPONENTS for item in every(inventory, f"dcim/{path}", {"cabled": "true"})
    }
    assert [device["name"] for device in every(inventory, "dcim/devices") if device["id"] not in cabled] == []
    assert count(inventory, "dcim/power-ports", {"cabled": "false"}) == 0
    assert count(inventory, "dcim/power-feeds", {"connected": "false"}) == 0


def test_leaf_switches_reach_all_spines_through_patch_panels(inventory: Api) -> None:
    uplinks = every(
        inventory, "dcim/interfaces", {"device": "rtm-b02-leafa", "type": "100gbase-x-qsfp28", "cabled": "true"}
    )
    ends = [port["connected_endpoint"]["device"]["name"] for port in uplinks]
    assert ends == [*[f"rtm-b-spine{number:02}" for number in range(1, 5)], "rtm-b02-leafb"]
    trace = inventory.get(f"{uplinks[0]['url']}trace/")
    assert len(trace) == 3, "leaf to panel, trunk between panels, panel to spine"


def test_wavelengths_connect_routers_of_two_sites(inventory: Api) -> None:
    (port,) = every(inventory, "dcim/interfaces", {"device": "got-rtr01", "name": "te3"})
    assert port["connected_endpoint"]["device"]["name"].startswith("rtm-rtr")
    assert port["connected_endpoint_reachable"] is True


def test_devices_but_panels_have_a_primary_address_in_a_prefix_of_their_site(inventory: Api) -> None:
    without = {
        device["device_role"]["name"] for device in every(inventory, "dcim/devices") if device["primary_ip4"] is None
    }
    assert without == {"Patch panel"}
    (device,) = every(inventory, "dcim/devices", {"name": "lis-acc01"})
    host = device["primary_ip4"]["address"].partition("/")[0]
    around = every(inventory, "ipam/prefixes", {"contains": host})
    assert [prefix["prefix"] for prefix in around] == ["10.0.0.0/8", "10.4.0.0/16", "10.4.0.0/23"]


def test_its_templates_and_groups_work(inventory: Api) -> None:
    (group,) = every(inventory, "extras/dynamic-groups", {"name": "Active leaf switches"})
    assert inventory.get(f"{group['url']}members/")["count"] == 36
    device = inventory.get("/api/dcim/devices/", {"name": "rtm-fw01", "include": "computed_fields"})["results"][0]
    assert device["computed_fields"] == {"place": "Rotterdam Data Centre, RTM-A01, U38"}
    assert device["config_context"]["dns"]["domain"] == "tarnwell.example"


def test_the_webhooks_are_disabled_and_nothing_is_sent(inventory: Api) -> None:
    assert [hook["name"] for hook in every(inventory, "extras/webhooks") if hook["enabled"]] == []
    assert count(inventory, "extras/webhook-deliveries") == 0


def test_the_change_log_names_the_user_and_records_components(loaded: tuple[Service, Run, str]) -> None:
    service, api = loaded[0], loaded[0].api
    changes = api.get("/api/extras/object-changes/", {"changed_object_type": "dcim.interface", "limit": 5})
    assert changes["count"] > 5000
    assert {change["user_name"] for change in changes["results"]} == {service.admin.username}


# -- the command


def test_the_command_reports_its_stages_and_a_summary(loaded: tuple[Service, Run, str]) -> None:
    *stages, summary = loaded[2].splitlines()
    assert [line.partition(":")[0] for line in stages[:4]] == [
        "organisation",
        "device types",
        "racks and power",
        "devices",
    ]
    assert summary.startswith("loaded 12 sites, 40 racks, 500 devices, ")


def test_a_second_run_is_refused(loaded: tuple[Service, Run, str]) -> None:
    service, run, _ = loaded
    for options in ((), ("--force",)):
        assert "the demo inventory can be loaded once" in run(*options, status=1)
    assert count(service.api, "dcim/devices") == 500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--devices", "3"], "3 is not in the range"),
        (["--devices", "many"], "not a valid integer"),
        (["--seed", "x"], "not a valid integer"),
        (["--user", "nobody-has-this-name"], "no user is called"),
        (["--what"], "No such option"),
    ],
)
def test_bad_options_are_refused_with_a_message(
    loaded: tuple[Service, Run, str], options: list[str], message: str
) -> None:
    output = loaded[1](*options, status=1 if options[0] == "--user" else 2)
    assert message in output and "Traceback" not in output


def test_what_exists_is_used_by_its_name(inventory: Api) -> None:
    (role,) = every(inventory, "dcim/device-roles", {"name": "Router"})
    assert role["color"] == "000000"
    assert count(inventory, "dcim/devices", {"role_id": role["id"]}) > 0


def test_a_run_that_is_refused_leaves_nothing_behind(fresh: Service, tmp_path: Path) -> None:
    api = fresh.api
    api.post("/api/ipam/vrfs/", {"name": "Another", "rd": "64496:200"})
    output = command_for(fresh, tmp_path)("--devices", str(MIN_DEVICES), status=1)
    assert "nothing was changed: rd: " in output
    assert (count(api, "dcim/sites"), count(api, "extras/tags"), count(api, "dcim/devices")) == (0, 0, 0)


def test_without_a_superuser_the_command_says_what_to_do(loaded: tuple[Service, Run, str]) -> None:
    service, run, _ = loaded
    users = service.registry["users.user"].table
    try:
        with service.unit_of_work() as uow:
            uow.execute(sa.update(users).values(is_superuser=False))
        assert "netinv user create" in run(status=1)
    finally:
        with service.unit_of_work() as uow:
            uow.execute(sa.update(users).where(users.c.id == uuid.UUID(service.admin.id)).values(is_superuser=True))


# -- the job


def ask(service: Service) -> Any:
    """Has the job run; returns its result."""
    with service.unit_of_work() as uow:
        job_models.refresh(uow)
    (job,) = service.api.get("/api/extras/jobs/", {"job_class_name": "LoadDemoInventory"})["results"]
    service.api.patch(job["url"], {"enabled": True})
    body = {"data": {"devices": MIN_DEVICES}, "commit": True}
    asked = service.api.post(f"{job['url']}run/", body)["job_result"]
    work(service, 300)
    runner.runner(service.engine, service.registry).stop(0)
    return result(service, asked)


@pytest.mark.usefixtures("fork_server")
def test_the_job_fails_where_the_inventory_is_loaded(loaded: tuple[Service, Run, str]) -> None:
    service = loaded[0]
    refused = ask(service)
    assert refused["status"]["value"] == "failed"
    assert "can be loaded once" in logs(service, refused)[0][1]


@pytest.mark.usefixtures("fork_server")
def test_the_job_loads_it_and_logs_its_stages(fresh: Service) -> None:
    done = ask(fresh)
    assert done["status"]["value"] == "completed", logs(fresh, done)
    assert f"{MIN_DEVICES} devices" in done["data"]["output"]
    assert [message for _, message in logs(fresh, done) if message.startswith("devices: ")]
    assert count(fresh.api, "dcim/devices") == MIN_DEVICES


# -- the plan


def planned(devices: int, seed: int) -> Any:
    """Returns the plan for a number of devices."""
    sites = [PlannedSite(profile, number) for number, profile in enumerate(SITES, 1)]
    return generator.make_plan(sites, DemoSize.for_devices(devices), random.Random(seed))


@pytest.mark.any_database
@pytest.mark.parametrize("devices", [MIN_DEVICES, 250, 499, 500, 1234, 2000, MAX_DEVICES])
def test_a_plan_has_exactly_the_devices_that_were_asked_for(devices: int) -> None:
    plan = planned(devices, 1)
    names = collections.Counter(device.name for device in plan.devices)
    assert (names.total(), len(names), len(list(plan.racks))) == (devices, devices, DemoSize.for_devices(devices).racks)


@pytest.mark.any_database
def test_a_seed_gives_the_same_plan_each_time_and_another_seed_another_one() -> None:
    def described(seed: int) -> list[tuple[str, str]]:
        return [(device.name, device.model.model) for device in planned(500, seed).devices]

    assert described(7) == described(7) != described(8)


def test_it_is_refused_where_a_feature_is_disabled_whose_objects_it_has(fresh: Service) -> None:
    """Nothing is loaded, and the sentence names the resource. Without jobs, the home page has no button for it."""
    without = Service(fresh.engine, {"netinv.disabled_features": "extras.notes extras.jobs"})
    with (
        without.unit_of_work() as uow,
        pytest.raises(
            generator.CannotLoadError, match=r"^the demo inventory has objects of disabled features: extras\.note$"
        ),
    ):
        generator.check_empty(uow)
    shown = ["Load the demo inventory" in Browser(each, each.admin).get("/").words for each in (fresh, without)]
    assert shown == [True, False]


def test_ports_that_are_connected_and_virtual_machines_have_mac_addresses(inventory: Api) -> None:
    ports = every(inventory, "dcim/interfaces", {"cabled": "true"})
    connected = [port for port in ports if port["cable_peer_type"] == "dcim.interface"]
    machines = every(inventory, "virtualization/interfaces")
    addresses = [item["mac_address"] for item in [*connected, *machines]]
    assert None not in addresses
    assert len(set(addresses)) == len(addresses) > 100
