"""Circuit groups: assignments with a priority, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_circuit_groups import importing
from netinv_core.main import registry_for
from netinv_core.packages import discover
from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from plugins.conftest import is_installed
from tests.support.dumps import item, named

CIRCUIT, VIRTUAL = "circuits.circuit", "virtual_circuits.virtualcircuit"
needs_virtual = pytest.mark.skipif(
    not is_installed("netinv_virtual_circuits"), reason="netinv-virtual-circuits is not installed"
)
GROUPS = "/api/plugins/circuit_groups/circuit-groups/"
ASSIGNMENTS = "/api/plugins/circuit_groups/circuit-group-assignments/"


@pytest.fixture
def circuit(service: Service) -> Any:
    """A circuit."""
    return Case(service, CIRCUIT).make()


@pytest.fixture
def group(api: Api, unique: Unique) -> Any:
    """A group without circuits."""
    return api.post(GROUPS, {"name": unique()})


@pytest.fixture
def assign(api: Api) -> Any:
    """``assign(group, circuit, "primary")``: the circuit becomes one of the group."""

    def post(group: Any, circuit: Any, priority: str = "primary", status: int = 201) -> Any:
        member = {"member_type": circuit.get("type_label", CIRCUIT), "member_id": circuit["id"]}
        body = {"group": group["id"], **member, "priority": priority}
        return api.post(ASSIGNMENTS, body, status=status)

    return post


def test_a_circuit_is_in_a_group_once(api: Api, group: Any, circuit: Any, assign: Any) -> None:
    made = assign(group, circuit)
    assert made["display"] == f"{group['name']} (Primary)"
    assert made["member"]["id"] == circuit["id"]
    assign(group, circuit, "secondary", status=400)
    other = api.post(GROUPS, {"name": f"{group['name']} 2"})
    assign(other, circuit, "inactive")
    found = api.get(ASSIGNMENTS, {"member_id": circuit["id"], "priority": "inactive"})["results"]
    assert [one["group"]["id"] for one in found] == [other["id"]]


def test_a_priority_is_one_of_four_or_none(group: Any, circuit: Any, assign: Any) -> None:
    assert list(assign(group, circuit, "urgent", status=400)) == ["priority"]
    assert assign(group, circuit, "")["priority"] is None


def test_assignments_go_with_the_circuit_and_with_the_group(
    api: Api, service: Service, group: Any, circuit: Any, assign: Any
) -> None:
    one, other = assign(group, circuit), assign(group, Case(service, CIRCUIT).make())
    api.delete(f"/api/circuits/circuits/{circuit['id']}/")
    api.get(f"{ASSIGNMENTS}{one['id']}/", status=404)
    api.delete(f"{GROUPS}{group['id']}/")
    api.get(f"{ASSIGNMENTS}{other['id']}/", status=404)


@needs_virtual
def test_virtual_circuits_are_members(api: Api, service: Service, group: Any, assign: Any) -> None:
    member = Case(service, VIRTUAL).make()
    made = assign(group, {**member, "type_label": VIRTUAL})
    assert made["member"]["display"] == member["cid"]
    page = f"/plugins/virtual_circuits/virtual-circuits/{member['id']}/circuit-groups/"
    assert group["name"] in Browser(service, service.admin).get(page).text
    api.delete(f"/api/plugins/virtual_circuits/virtual-circuits/{member['id']}/")
    api.get(f"{ASSIGNMENTS}{made['id']}/", status=404)


def test_other_objects_are_no_members(api: Api, group: Any, circuit: Any) -> None:
    member = {"member_type": "circuits.provider", "member_id": circuit["provider"]["id"]}
    assert list(api.post(ASSIGNMENTS, {"group": group["id"], **member}, status=400)) == ["member_type"]


def test_circuits_and_groups_have_tabs_of_each_other(service: Service, group: Any, circuit: Any, assign: Any) -> None:
    assign(group, circuit)
    browser = Browser(service, service.admin)
    assert group["name"] in browser.get(f"/circuits/circuits/{circuit['id']}/circuit-groups/").text
    page = browser.get(f"/plugins/circuit_groups/circuit-groups/{group['id']}/circuits/")
    assert circuit["cid"] in page.text
    assert page.html.find("a", href=lambda path: path and "circuit-group-assignments/add/?group=" in path)


def circuit_objects(name: str) -> list[Any]:
    """A provider, a type and a circuit of a dump."""
    return [
        named("circuits.provider", 1, name),
        named("circuits.circuittype", 1, name),
        item("circuits.circuit", 1, cid=name, provider=1, type=1, status="active"),
    ]


@pytest.mark.parametrize(
    "member",
    [{"circuit": 1}, {"member_type": ["circuits", "circuit"], "member_id": 1}],
    ids=["NetBox 4.1", "NetBox 4.2"],
)
def test_groups_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique, member: Any) -> None:
    name = unique()
    report = load_dump(
        *circuit_objects(name),
        named("circuits.circuitgroup", 1, name, description="backup", tenant=None),
        item("circuits.circuitgroupassignment", 1, group=1, priority="secondary", **member),
    )
    assert report.counts()["circuits.circuitgroupassignment"] == {"created": 1}
    (made,) = api.get(ASSIGNMENTS, {"group": name.lower()})["results"]
    assert (made["member"]["cid"], made["priority"]["value"]) == (name, "secondary")
    circuit = api.get(f"/api/circuits/circuits/{made['member_id']}/")
    assert not any("group" in field for field in circuit["custom_fields"])


def virtual_circuit_objects(name: str) -> list[Any]:
    """A group of a dump with a virtual circuit."""
    return [
        named("circuits.provider", 1, name),
        item("circuits.providernetwork", 1, provider=1, name=name),
        named("circuits.virtualcircuittype", 1, name),
        item("circuits.virtualcircuit", 1, cid=name, provider_network=1, type=1, status="active"),
        named("circuits.circuitgroup", 1, name, description="", tenant=None),
        item("circuits.circuitgroupassignment", 1, group=1, priority=None,
             member_type=["circuits", "virtualcircuit"], member_id=1),
    ]  # fmt: skip


@needs_virtual
def test_members_that_are_virtual_circuits_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(*virtual_circuit_objects(name))
    assert report.counts()["circuits.circuitgroupassignment"] == {"created": 1}, report.reasons
    (made,) = api.get(ASSIGNMENTS, {"group": name.lower()})["results"]
    assert (made["member_type"], made["member"]["cid"]) == (VIRTUAL, name)


def test_members_that_are_virtual_circuits_need_their_package() -> None:
    modules, broken = discover()
    fewer = [pair for pair in modules if "netinv_virtual_circuits" not in getattr(pair[1], "__name__", "")]
    source = importing.models(registry_for("sqlite", {}, (fewer, broken)))["circuits.circuitgroupassignment"]
    assert source.skip is not None
    assert "install netinv-virtual-circuits" in str(source.skip(None, {"member_type": ["circuits", "virtualcircuit"]}))
    assert not source.skip(None, {"member_type": "circuits.circuit"})
