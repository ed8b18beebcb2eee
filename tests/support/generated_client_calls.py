"""Calls of the Python client that ``openapi-python-client`` generates: run with the client on the path, and with the
address and the token of a service. Prints the number of calls.
"""

import importlib
import sys
from http import HTTPStatus

from netinv_client import AuthenticatedClient
from netinv_client.models import (
    AvailableIPAddressRequest,
    AvailablePrefixRequest,
    DeviceRequest,
    PatchedSiteRequest,
    PrefixRequest,
    SiteRequest,
)

LISTS = """circuits_circuits circuits_providers dcim_cables dcim_device_roles dcim_device_types dcim_devices dcim_interfaces
dcim_locations dcim_manufacturers dcim_racks dcim_regions dcim_sites extras_jobs extras_statuses extras_tags extras_webhooks
ipam_ip_addresses ipam_prefixes ipam_vlans ipam_vrfs tenancy_tenants users_users virtualization_virtual_machines"""
client = AuthenticatedClient(
    base_url=f"{sys.argv[1]}/api",
    token=sys.argv[2],
    prefix="Token",
    headers={"Accept": "application/json; version=1.6"},
    timeout=60,
)
calls = []


def call(name, *arguments, status=HTTPStatus.OK, **options):
    """The object that an operation answers, which must be of the status."""
    calls.append(name)
    module = importlib.import_module(f"netinv_client.api.{name.partition('_')[0]}.{name}")
    answer = module.sync_detailed(*arguments, client=client, **options)
    assert answer.status_code == status, (name, answer.status_code, answer.content[:500])
    assert answer.parsed is not None or status == HTTPStatus.NO_CONTENT, (name, answer.content[:500])
    return answer.parsed


for words in LISTS.split():
    page = call(f"{words}_list", limit=3)
    assert page.count >= len(page.results), words

word = sys.argv[3]
site = call("dcim_sites_create", status=HTTPStatus.CREATED, body=SiteRequest(name=word, status="active"))
assert call("dcim_sites_retrieve", site.id).name == word
site.facility = "F1"
put = call("dcim_sites_update", site.id, body=SiteRequest.from_dict(site.to_dict()))
assert (put.facility, put.status.value) == ("F1", "active")
assert call("dcim_sites_partial_update", site.id, body=PatchedSiteRequest(status="planned")).status.label == "Planned"

device = call("dcim_devices_list", limit=1).results[0]
body = DeviceRequest.from_dict(device.to_dict())
body.comments = word
assert call("dcim_devices_update", device.id, body=body).comments == word

prefix = call(
    "ipam_prefixes_create", status=HTTPStatus.CREATED, body=PrefixRequest(prefix=sys.argv[4], status="active")
)
one = AvailableIPAddressRequest(status="active", description=word)
address = call("ipam_prefixes_available_ips_create", prefix.id, status=HTTPStatus.CREATED, body=one)
assert address.description == word
several = call("ipam_prefixes_available_ips_create", prefix.id, status=HTTPStatus.CREATED, body=[one, one])
assert len(several) == 2
network = AvailablePrefixRequest(prefix_length=120, status="active")
assert call("ipam_prefixes_available_prefixes_create", prefix.id, status=HTTPStatus.CREATED, body=network).id
call("ipam_prefixes_destroy", prefix.id, status=HTTPStatus.NO_CONTENT)
refused = call("dcim_sites_create", status=HTTPStatus.BAD_REQUEST, body=SiteRequest(name="", status="active"))
assert "name" in refused.to_dict(), refused
print(len(calls))
