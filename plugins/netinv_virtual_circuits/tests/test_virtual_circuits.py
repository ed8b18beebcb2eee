"""Virtual circuits: accounts, ends, pages, and their import."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from netinv_web.testing import Browser
from tests.support.dumps import item, named

PATH = "/api/plugins/virtual_circuits"
TYPES, CIRCUITS, TERMINATIONS = (
    f"{PATH}/{name}/" for name in ("virtual-circuit-types", "virtual-circuits", "virtual-circuit-terminations")
)
ACCOUNTS, INTERFACES = "/api/plugins/provider_accounts/provider-accounts/", "/api/dcim/interfaces/"
NETWORKS = "/api/circuits/provider-networks/"


@pytest.fixture
def circuit(service: Service) -> Any:
    """A virtual circuit."""
    return Case(service, "virtual_circuits.virtualcircuit").make()


@pytest.fixture
def interface(service: Service) -> Any:
    """A virtual interface of a device."""
    return Case(service, "dcim.interface").make(type="virtual")


def test_an_account_is_with_the_provider_of_the_network(
    api: Api, service: Service, unique: Unique, circuit: Any
) -> None:
    network = api.get(f"{NETWORKS}{circuit['provider_network']['id']}/")
    own = api.post(ACCOUNTS, {"provider": network["provider"]["id"], "account": unique()})
    path = f"{CIRCUITS}{circuit['id']}/"
    other = Case(service, "circuits.provider").make()
    foreign = api.post(ACCOUNTS, {"provider": other["id"], "account": unique()})
    refused = api.patch(path, {"provider_account": foreign["id"]}, status=400)
    assert refused == {"provider_account": ["The account must be with the provider of the network."]}
    assert api.patch(path, {"provider_account": own["id"]})["provider_account"]["id"] == own["id"]
    api.patch(f"{ACCOUNTS}{own['id']}/", {"provider": other["id"]}, status=400)
    api.patch(f"{NETWORKS}{network['id']}/", {"provider": other["id"]}, status=400)
    found = api.get(CIRCUITS, {"provider_account": own["id"]})["results"]
    assert [one["id"] for one in found] == [circuit["id"]]


def test_a_network_has_a_circuit_with_an_id_once(api: Api, circuit: Any) -> None:
    body = {"cid": circuit["cid"], "type": circuit["type"]["id"], "status": "active"}
    api.post(CIRCUITS, {**body, "provider_network": circuit["provider_network"]["id"]}, status=400)
    api.delete(f"{TYPES}{circuit['type']['id']}/", status=409)


def test_a_circuit_ends_at_a_virtual_interface_once(api: Api, circuit: Any, interface: Any) -> None:
    end = {"virtual_circuit": circuit["id"], "interface": interface["id"]}
    made = api.post(TERMINATIONS, {**end, "role": "hub"})
    assert made["display"] == f"{circuit['cid']} (Hub)"
    assert list(api.post(TERMINATIONS, end, status=400)) == ["interface"]
    path = f"{INTERFACES}{interface['id']}/"
    api.patch(path, {"type": "1000base-t"}, status=400)
    api.patch(path, {"type": "lag"})
    api.delete(path)
    api.get(f"{TERMINATIONS}{made['id']}/", status=404)


def test_ends_at_other_interfaces_are_refused(api: Api, service: Service, circuit: Any) -> None:
    port = Case(service, "dcim.interface").make(type="1000base-t")
    refused = api.post(TERMINATIONS, {"virtual_circuit": circuit["id"], "interface": port["id"]}, status=400)
    assert list(refused) == ["interface"]


def test_networks_circuits_and_interfaces_have_tabs(api: Api, service: Service, circuit: Any, interface: Any) -> None:
    api.post(TERMINATIONS, {"virtual_circuit": circuit["id"], "interface": interface["id"]})
    browser, network = Browser(service, service.admin), circuit["provider_network"]["id"]
    assert circuit["cid"] in browser.get(f"/circuits/provider-networks/{network}/virtual-circuits/").text
    page = f"/plugins/virtual_circuits/virtual-circuits/{circuit['id']}/terminations/"
    assert interface["name"] in browser.get(page).text
    assert circuit["cid"] in browser.get(f"/dcim/interfaces/{interface['id']}/virtual-circuit-terminations/").text


def circuit_objects(name: str, **circuit: Any) -> list[Any]:
    """A virtual circuit of a dump, with what it refers to and an end."""
    return [
        named("circuits.provider", 1, name),
        item("circuits.provideraccount", 1, provider=1, account=name, name=""),
        item("circuits.providernetwork", 1, provider=1, name=name),
        item(
            "circuits.virtualcircuit", 1, cid=name, provider_network=1, provider_account=1, status="active", **circuit
        ),
        named("dcim.site", 1, name, status="active"),
        named("dcim.manufacturer", 1, name),
        item("dcim.devicetype", 1, manufacturer=1, model=name, slug=name.lower(), u_height=1),
        named("dcim.devicerole", 1, name, color="aa1409"),
        item("dcim.device", 1, name=name, site=1, device_type=1, device_role=1, status="active"),
        item("dcim.interface", 1, device=1, name="vlan10", type="virtual", enabled=True),
        item("circuits.virtualcircuittermination", 1, virtual_circuit=1, role="spoke", interface=1, description="x"),
    ]


def test_virtual_circuits_of_a_netbox_dump_are_imported(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(
        named("circuits.virtualcircuittype", 1, name, color="aa1409"), *circuit_objects(name, type=1, description="y")
    )
    for model in ("virtualcircuittype", "virtualcircuit", "virtualcircuittermination"):
        assert report.counts()[f"circuits.{model}"] == {"created": 1}, report.reasons
    assert not report.left_out
    (end,) = api.get(TERMINATIONS, {"virtual_circuit": imported_id(api, name)})["results"]
    assert (end["role"]["value"], end["interface"]["name"], end["description"]) == ("spoke", "vlan10", "x")


def imported_id(api: Api, cid: str) -> str:
    """The id of the circuit, which has its type and account."""
    (circuit,) = api.get(CIRCUITS, {"cid": cid})["results"]
    assert circuit["type"]["name"] in (cid, "NetBox virtual circuit") and circuit["provider_account"]["account"] == cid
    key: str = circuit["id"]
    return key


def test_circuits_without_a_type_get_one(api: Api, load_dump: Any, unique: Unique) -> None:
    name = unique()
    report = load_dump(*circuit_objects(name))
    assert report.counts()["circuits.virtualcircuit"] == {"created": 1}, report.reasons
    imported_id(api, name)
