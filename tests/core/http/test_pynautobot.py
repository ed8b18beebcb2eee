"""A real client, pynautobot, against the service behind a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pynautobot
import pytest
import requests

from netinv_testing import Case, Service, Unique
from tests.support.http_server import served

pytestmark = pytest.mark.any_database


@pytest.fixture(scope="module")
def address(service: Service) -> Iterator[str]:
    """Where the service answers."""
    with served(service.app) as found:
        yield found


@pytest.fixture
def client(address: str, service: Service) -> Any:
    """pynautobot as the administrator."""
    return pynautobot.api(address, token=service.api.token)


@pytest.fixture
def site(client: Any, unique: Unique) -> Any:
    """A site, made by the client."""
    return client.dcim.sites.create(name=unique(), status="active")


def test_an_object_is_created_found_changed_and_deleted(client: Any, site: Any) -> None:
    """What every script does."""
    found = client.dcim.sites.get(name=site.name)
    assert found.id == site.id
    assert found.status.value == "active"
    found.facility = "B7"
    assert found.save()
    assert client.dcim.sites.get(site.id).facility == "B7"
    assert found.delete()
    assert client.dcim.sites.get(site.id) is None


def test_a_tag_is_added_beside_the_others(client: Any, site: Any, unique: Unique) -> None:
    """A difference in place of the list, as the documentation shows it."""
    words = (unique(), unique())
    first, second = (client.extras.tags.create(name=w, slug=w, content_types=["dcim.site"]) for w in words)
    for tag in (first, second):
        assert client.dcim.sites.update(id=site.id, data={"tags": {"add": [{"slug": tag.slug}]}})
    assert {tag.id for tag in client.dcim.sites.get(site.id).tags} == {first.id, second.id}


def test_an_upsert_is_sent_through_the_session(client: Any, site: Any, unique: Unique) -> None:
    """As the documentation shows it, with the errors of single items."""
    options = {
        "headers": {"Authorization": f"Token {client.token}"},
        "params": {"match": "name", "on_error": "continue"},
    }
    sites = [{"name": site.name}, {"name": unique(), "status": "active"}, {"name": unique()}]
    results = client.http_session.patch(f"{client.base_url}/dcim/sites/", json=sites, **options).json()
    assert [result["status"] for result in results] == ["unchanged", "created", "failed"]


def test_saving_without_a_change_sends_nothing(client: Any, site: Any) -> None:
    """The record as read has no differences to write."""
    assert not client.dcim.sites.get(site.id).save()


def test_lists_are_filtered_with_lookups(client: Any, unique: Unique) -> None:
    """Lookups are keyword arguments."""
    word = unique()
    client.tenancy.tenants.create([{"name": f"{word} {number}"} for number in range(3)])
    assert len(client.tenancy.tenants.filter(name__isw=word.upper())) == 3
    assert [found.name for found in client.tenancy.tenants.filter(name__re=f"{word} [12]$")] == [
        f"{word} 1",
        f"{word} 2",
    ]
    assert client.tenancy.tenants.count(name__ic=word) == 3


def test_all_pages_are_fetched_in_threads(address: str, service: Service, unique: Unique) -> None:
    """With threading every object comes exactly once."""
    client = pynautobot.api(address, token=service.api.token, threading=True)
    word = unique()
    client.extras.tags.create(
        [{"name": f"{word}{n}", "slug": f"{word}{n}", "content_types": ["dcim.site"]} for n in range(120)]
    )
    found = [tag.name for tag in client.extras.tags.filter(name__isw=word)]
    assert sorted(found) == sorted(f"{word}{n}" for n in range(120))


def test_all_pages_are_fetched_by_cursor(client: Any, unique: Unique) -> None:
    """The second page by its offset, as the client asks for it, the others by the links."""
    word = unique()
    client.tenancy.tenants.create([{"name": f"{word} {number}"} for number in range(120)])
    found = client.tenancy.tenants.filter(name__isw=word, cursor="", ordering="-name", brief=True)
    assert [tenant.name for tenant in found] == sorted((f"{word} {number}" for number in range(120)), reverse=True)


def test_records_have_the_fields_that_are_asked_for(client: Any, site: Any) -> None:
    """Records of some fields can be changed and saved."""
    (found,) = client.dcim.sites.filter(name=site.name, fields="id,url,name,status.value,facility")
    assert (found.name, found.status.value) == (site.name, "active")
    found.facility = "C1"
    assert found.save()
    assert client.dcim.sites.get(site.id).facility == "C1"


def test_many_are_created_at_once_and_changed_by_id(client: Any, unique: Unique) -> None:
    """A list makes a list; ``update`` changes one without reading it first."""
    word = unique()
    made = client.tenancy.tenant_groups.create([{"name": f"{word} {number}"} for number in range(3)])
    assert [group.name for group in made] == [f"{word} {number}" for number in range(3)]
    assert client.tenancy.tenant_groups.update(id=made[0].id, data={"description": "changed"})
    assert client.tenancy.tenant_groups.get(made[0].id).description == "changed"


def test_choices_are_listed(client: Any) -> None:
    """The client reads them from OPTIONS."""
    assert {"value": "front", "display": "Front"} in client.dcim.devices.choices()["face"]


def test_addresses_are_allocated(client: Any, unique: Unique) -> None:
    """``available_ips`` lists, and creates one after the other."""
    vrf = client.ipam.vrfs.create(name=unique())
    prefix = client.ipam.prefixes.create(prefix="10.20.30.0/29", status="active", vrf=vrf.id)
    assert prefix.available_ips.list()[0].address == "10.20.30.1/29"
    first = prefix.available_ips.create({"status": "active"})
    second = prefix.available_ips.create({"status": "active", "description": "second"})
    assert [first.address, second.address] == ["10.20.30.1/29", "10.20.30.2/29"]
    child = client.ipam.prefixes.create(prefix="10.21.0.0/16", status="container", vrf=vrf.id)
    assert child.available_prefixes.create({"prefix_length": 24, "status": "active"}).prefix == "10.21.0.0/24"


@pytest.mark.parametrize(("version", "has_status"), [("1.3", False), ("1.4", True)])
def test_the_client_chooses_a_version(
    address: str, service: Service, unique: Unique, version: str, has_status: bool
) -> None:
    """``api_version`` decides what is read."""
    client = pynautobot.api(address, token=service.api.token, api_version=version)
    assert client.version == version
    role = client.dcim.device_roles.create(name=unique())
    manufacturer = client.dcim.manufacturers.create(name=unique())
    kind = client.dcim.device_types.create(model=unique(), manufacturer=manufacturer.id)
    place = client.dcim.sites.create(name=unique(), status="active")
    device = client.dcim.devices.create(
        name=unique(), device_type=kind.id, device_role=role.id, site=place.id, status="active"
    )
    body = {"device": device.id, "name": "eth0", "type": "virtual"} | ({"status": "active"} if has_status else {})
    interface = client.dcim.interfaces.create(**body)
    assert hasattr(client.dcim.interfaces.get(interface.id), "status") is has_status


def test_a_wrong_body_is_told_to_the_client(client: Any) -> None:
    """The error names the field."""
    with pytest.raises(pynautobot.RequestError) as caught:
        client.dcim.sites.create(name="")
    assert "This field may not be blank." in str(caught.value.error)


def test_a_proxy_is_believed_only_when_told(service: Service) -> None:
    """``X-Forwarded-*`` counts from a trusted proxy alone."""
    headers = {
        "Authorization": f"Token {service.api.token}",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "netinv.example.net",
    }
    options = {
        "trusted_proxy": "127.0.0.1",
        "trusted_proxy_headers": {"x-forwarded-proto", "x-forwarded-host"},
        "clear_untrusted_proxy_headers": True,
    }
    with served(service.app, clear_untrusted_proxy_headers=True) as address:
        root = requests.get(f"{address}/api/", headers=headers, timeout=10).json()
        assert root["dcim"] == f"{address}/api/dcim/"
    with served(service.app, **options) as address:
        page = requests.get(f"{address}/api/extras/statuses/?limit=1", headers=headers, timeout=10).json()
        assert page["next"] == "https://netinv.example.net/api/extras/statuses/?limit=1&offset=1"


def test_a_graphql_query_is_answered(client: Any, site: Any) -> None:
    """As scripts and inventories send it."""
    query = "query ($name: String!) { sites(name: $name) { id name status { name } } }"
    found = client.graphql.query(query=query, variables={"name": site.name})
    assert found.json == {"data": {"sites": [{"id": site.id, "name": site.name, "status": {"name": "Active"}}]}}


# -- the requests of the Ansible collection's inventory plugin


@pytest.fixture
def ansible(address: str, service: Service) -> Any:
    """``ansible(path, **query)``: the answer to a GET with the headers that the plugin sends."""
    headers = {
        "User-Agent": "ansible 2.16 Python",
        "Content-type": "application/json",
        "Accept": "application/json; version=1.4",
    }

    def get(path: str, **query: Any) -> Any:
        sent = {**headers, "Authorization": f"Token {service.api.token}"}
        answer = requests.get(f"{address}{path}", params=query, headers=sent, timeout=10)
        assert answer.status_code == 200, answer.text
        return answer.json()

    return get


@pytest.mark.parametrize("path", ["/dcim/devices/", "/virtualization/virtual-machines/"])
def test_an_inventory_reads_the_parameters_of_hosts_by_name(ansible: Any, path: str) -> None:
    """It takes ``name`` of each parameter of the document and knows no references."""
    document = ansible("/api/docs/", format="openapi")
    names = [parameter["name"] for parameter in document["paths"][path]["get"]["parameters"]]
    assert {"name", "site", "tenant", "status", "role", "has_primary_ip", "tag", "limit"} <= set(names)


def test_an_inventory_checks_the_version(ansible: Any) -> None:
    """It compares numbers, and keeps the document under that version."""
    version = ansible("/api/status/")["nautobot-version"]
    assert tuple(map(int, version.split("."))) >= (1, 6, 0)


def test_an_inventory_finds_hosts_and_what_they_belong_to(ansible: Any, service: Service) -> None:
    """Hosts without their config context, everything else whole; interfaces and addresses by many ids at once."""
    interface = Case(service, "dcim.interface").make()
    device = service.api.patch(interface["device"]["url"], {"name": service.unique()})
    hosts = ansible("/api/dcim/devices/", limit=0, exclude="config_context", name=device["name"])["results"]
    assert [host["id"] for host in hosts] == [device["id"]] and "config_context" not in hosts[0]
    for path in (
        "dcim/sites",
        "dcim/regions",
        "dcim/locations",
        "tenancy/tenants",
        "dcim/racks",
        "dcim/rack-groups",
        "dcim/device-roles",
    ):
        assert {"count", "next", "results"} <= set(ansible(f"/api/{path}/", limit=0))
    for path in (
        "dcim/platforms",
        "dcim/device-types",
        "dcim/manufacturers",
        "virtualization/clusters",
        "ipam/services",
    ):
        assert {"count", "next", "results"} <= set(ansible(f"/api/{path}/", limit=0))
    found = ansible("/api/dcim/interfaces/", limit=0, device_id=[device["id"]])["results"]
    assert {item["device"]["id"] for item in found} == {device["id"]}  # its type may have given it interfaces
    assert {item["id"]: item["count_ipaddresses"] for item in found}[interface["id"]] == 0
    assert (
        ansible("/api/ipam/ip-addresses/", limit=0, assigned_to_interface="true", device_id=[device["id"]])["results"]
        == []
    )


def test_an_object_is_bound_to_its_tag(client: Any, site: Any) -> None:
    """Objects listed with ``include="etag"`` are changed only if they are still the same."""
    (found,) = client.dcim.sites.filter(id=site.id, include="etag")
    change = {"_etag": found._etag, "facility": "B7"}
    assert client.dcim.sites.update(site.id, change)
    assert client.dcim.sites.get(site.id).facility == "B7"
    with pytest.raises(pynautobot.RequestError) as refused:
        client.dcim.sites.update(site.id, change)
    assert refused.value.req.status_code == 412


def test_an_allocation_that_is_repeated_gives_one_address(client: Any, unique: Unique) -> None:
    """The key is a header of the client's session."""
    prefix = client.ipam.prefixes.create(prefix=f"{unique.ipv6()}::/120", status="active")
    client.http_session.headers["Idempotency-Key"] = unique()
    found = [prefix.available_ips.create({"status": "active"}).address for _ in range(2)]
    assert len(set(found)) == 1


def test_a_plan_is_made_and_applied_and_the_past_is_read(client: Any, unique: Unique) -> None:
    """Actions and parameters that the client has no method for are sent through its session."""
    name = unique()
    headers = {"Authorization": f"Token {client.token}"}
    plan = client.extras.plans.create(objects={"dcim.site": [{"name": name, "status": "active"}]})
    assert [(change["action"], change["display"]) for change in plan.changes] == [("create", name)]
    path = f"{client.base_url}/extras/plans/{plan.id}/apply/"
    assert client.http_session.post(path, headers=headers).json()["state"]["value"] == "applied"
    site = client.dcim.sites.get(name=name)
    path, past = f"{client.base_url}/dcim/sites/{site.id}/", {"as_of": "2020-11-01T00:00:00Z"}
    assert client.http_session.get(path, params=past, headers=headers).status_code == 404
