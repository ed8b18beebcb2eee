"""Models that later versions of NetBox have and netinv has not: what becomes of them in an import."""

from __future__ import annotations

import json
from typing import Any

from netinv_import.netbox import CREATED, DERIVED, REFUSED, SKIPPED, UNCHANGED
from netinv_testing import Api
from tests.support.dumps import item, named

JUNIPER = named("dcim.manufacturer", 1, "Juniper of the imports")


def found(api: Api, path: str, name: str) -> Any:
    """The one object of a name."""
    (only,) = api.get(path, {"name": name})["results"]
    return only


def device(unique: Any, key: int = 1, **fields: Any) -> list[dict[str, Any]]:
    """A device and what it needs, as NetBox 3.6 and later have it: with ``role``."""
    type_ = item("dcim.devicetype", key, manufacturer=1, model=unique(), slug=unique(), u_height="1.0")
    given = {"name": unique(), "device_type": key, "role": key, "site": key, "status": "active", **fields}
    role, site = named("dcim.devicerole", key, unique()), named("dcim.site", key, unique(), status="active")
    return [JUNIPER, type_, role, site, item("dcim.device", key, **given)]


def interface(key: int, name: str, **fields: Any) -> dict[str, Any]:
    return item("dcim.interface", key, **{"device": 1, "name": name, "type": "1000base-t", **fields})


def test_objects_without_a_key_are_imported_or_reported(run: Any) -> None:
    report = run(
        {"model": "contenttypes.contenttype", "fields": {"app_label": "dcim", "model": "site"}},
        {"model": "auth.user", "fields": {"username": "alice"}},
    )
    assert report.outcomes == {("contenttypes.contenttype", "no. 1"): SKIPPED, ("auth.user", "no. 2"): SKIPPED}
    assert "netinv user" in report.reasons["auth.user", "no. 2"]


def test_values_without_a_field_are_kept_in_custom_fields(run: Any, api: Api, unique: Any) -> None:
    origin = unique()
    groups = [named("dcim.sitegroup", 1, "North"), named("dcim.sitegroup", 2, "Shops", parent=1)]
    site = named("dcim.site", 1, unique(), status="active", group=2, colour_of_door=7)
    report = run(*groups, site, origin=origin)
    shown = found(api, "/api/dcim/sites/", site["fields"]["name"])["custom_fields"]
    slug = origin.lower()
    assert (shown[f"{slug}_group"], shown[f"{slug}_colour_of_door"]) == ("North / Shops", 7)
    assert [report.outcomes["dcim.sitegroup", n] for n in (1, 2)] == [DERIVED, DERIVED]
    assert report.kept["dcim.site", "group"] == (f"{slug}_group", 1) and not report.left_out
    assert set(run(*groups, site, origin=origin).outcomes.values()) == {UNCHANGED, DERIVED}
    site["fields"]["group"] = None
    run(*groups, site, origin=origin)
    assert not found(api, "/api/dcim/sites/", site["fields"]["name"])["custom_fields"].get(f"{slug}_group")


def test_ends_of_cables_become_fields_of_the_cable(run: Any, api: Api, unique: Any) -> None:
    ends = [
        item(
            "dcim.cabletermination",
            n,
            cable=1,
            cable_end=side,
            termination_type=["dcim", "interface"],
            termination_id=n,
        )
        for n, side in enumerate("ABB", start=1)
    ]
    names = [unique() for _ in range(3)]
    ports = [interface(n, name, cable=1, cable_end="A") for n, name in enumerate(names, start=1)]
    cable = item("dcim.cable", 1, type="cat6", status="connected", length=None)
    lonely = item("dcim.cable", 2, type="cat6", status="connected")
    report = run(*device(unique), *ports, cable, lonely, *ends)
    assert [report.outcomes["dcim.cabletermination", n] for n in (1, 2, 3)] == [CREATED, CREATED, SKIPPED]
    assert report.reasons["dcim.cable", 2] == "it has no end on side A and B"
    shown = found(api, "/api/dcim/interfaces/", names[0])
    assert shown["connected_endpoint"]["name"] == names[1]


def test_modules_become_inventory_items(run: Any, api: Api, unique: Any) -> None:
    serial, port = unique(), unique()
    report = run(
        *device(unique),
        item("dcim.moduletype", 1, manufacturer=1, model="LC-48", part_number=""),
        item("dcim.interfacetemplate", 1, device_type=None, module_type=1, name="e1", type="1000base-t"),
        item("dcim.modulebay", 1, device=1, name="Slot 1"),
        item("dcim.modulebay", 2, device=1, name="Slot 2"),
        item("dcim.module", 1, device=1, module_bay=1, module_type=1, serial=serial, status="active"),
        interface(1, port, module=1),
    )
    assert report.outcomes["dcim.module", 1] == report.outcomes["dcim.modulebay", 1] == CREATED
    assert (report.outcomes["dcim.modulebay", 2], report.outcomes["dcim.interfacetemplate", 1]) == (SKIPPED, SKIPPED)
    (shown,) = api.get("/api/dcim/inventory-items/", {"serial": serial})["results"]
    assert (shown["name"], shown["part_id"], shown["manufacturer"]["name"]) == (
        "Slot 1",
        "LC-48",
        JUNIPER["fields"]["name"],
    )
    kept = found(api, "/api/dcim/interfaces/", port)["custom_fields"]
    assert "Slot 1" in kept.values()


def test_contacts_are_listed_at_their_objects(run: Any, api: Api, unique: Any) -> None:
    name = unique()
    report = run(
        named("dcim.site", 1, name, status="active"),
        named("tenancy.contactrole", 1, "On call"),
        item("tenancy.contact", 1, name="Ann", phone="1", email="ann@example.com", group=None),
        item("tenancy.contact", 2, name="Bob", phone="2", email="", group=None),
        item("tenancy.contact", 3, name="Cyd", group=None),
        *(
            item(
                "tenancy.contactassignment",
                n,
                content_type=["dcim", "site"],
                object_id=1,
                contact=n,
                role=1,
                priority=p,
            )
            for n, p in ((1, "secondary"), (2, "primary"))
        ),
    )
    shown = found(api, "/api/dcim/sites/", name)
    assert (shown["contact_name"], shown["contact_phone"]) == ("Bob", "2")
    (listed,) = [value for value in shown["custom_fields"].values() if isinstance(value, list) and value]
    assert [(entry["name"], entry["role"]) for entry in listed] == [("Bob", "On call"), ("Ann", "On call")]
    assert report.outcomes["tenancy.contact", 3] == SKIPPED and report.outcomes["tenancy.contact", 1] == CREATED


def test_autonomous_systems_become_numbers_of_sites(run: Any, api: Api, unique: Any) -> None:
    name = unique()
    site = named("dcim.site", 1, name, status="active", asns=[1])
    systems = [item("ipam.asn", n, asn=64512 + n, rir=1, description="") for n in (1, 2)]
    report = run(site, named("ipam.rir", 1, unique()), *systems)
    assert found(api, "/api/dcim/sites/", name)["asn"] == 64513
    assert [report.outcomes["ipam.asn", n] for n in (1, 2)] == [CREATED, SKIPPED]


def test_addresses_as_objects_scopes_and_machines_without_a_cluster(run: Any, api: Api, unique: Any) -> None:
    port, machine, prefix = unique(), unique(), "203.0.113.0/27"
    report = run(
        *device(unique),
        interface(1, port, primary_mac_address=2),
        *(
            item(
                "dcim.macaddress",
                n,
                mac_address=f"02:00:00:00:00:0{n}",
                assigned_object_type=["dcim", "interface"],
                assigned_object_id=1,
            )
            for n in (1, 2)
        ),
        item("ipam.prefix", 1, prefix=prefix, status="active", scope_type=["dcim", "site"], scope_id=1),
        item(
            "virtualization.virtualmachine",
            1,
            name=machine,
            status="active",
            cluster=None,
            site=1,
            vcpus="1.50",
            disk=2500,
        ),
        item("dcim.racktype", 1, model="T", slug="t"),
    )
    assert not report.left_out and CREATED in report.outcomes.values(), report.left_out
    shown = found(api, "/api/dcim/interfaces/", port)
    assert shown["mac_address"] == "02:00:00:00:00:02" and ["02:00:00:00:00:01"] in shown["custom_fields"].values()
    (site,) = {row["site"]["name"] for row in api.get("/api/ipam/prefixes/", {"prefix": prefix})["results"]}
    shown = found(api, "/api/virtualization/virtual-machines/", machine)
    assert shown["cluster"]["name"] == f"No cluster ({site})" and (shown["vcpus"], shown["disk"]) == (2, 3)


def test_groups_of_interfaces_notes_and_scopes_of_contexts(run: Any, api: Api, unique: Any) -> None:
    port, group, context = unique(), unique(), unique()
    report = run(
        *device(unique),
        interface(1, port),
        item("ipam.fhrpgroup", 1, name=group, group_id=7, protocol="vrrp3", auth_key="secret"),
        item(
            "ipam.fhrpgroupassignment", 1, group=1, interface_type=["dcim", "interface"], interface_id=1, priority=100
        ),
        item(
            "ipam.ipaddress",
            1,
            address="203.0.113.40/27",
            status="active",
            vrf=None,
            assigned_object_type=["ipam", "fhrpgroup"],
            assigned_object_id=1,
        ),
        item(
            "extras.journalentry",
            1,
            assigned_object_type=["dcim", "device"],
            assigned_object_id=1,
            created="2022-01-02T03:04:05Z",
            created_by=["alice"],
            kind="info",
            comments="Moved.",
        ),
        named("dcim.sitegroup", 5, unique()),
        item(
            "extras.configcontext",
            1,
            name=context,
            data=json.dumps({"a": 1}),
            weight=5,
            site_groups=[5],
            is_active=True,
        ),
    )
    shown = found(api, "/api/dcim/interface-redundancy-groups/", group)
    assert shown["protocol"]["value"] == "vrrp" and shown["virtual_ip"]["address"] == "203.0.113.40/27"
    assert report.left_out["ipam.fhrpgroup", "auth_key", "secrets are not imported"] == 1
    assert report.outcomes["ipam.fhrpgroupassignment", 1] == CREATED
    assert (
        api.get("/api/extras/notes/", {"q": "Moved."})["results"][0]["note"]
        == "2022-01-02 03:04, alice, info\n\nMoved."
    )
    assert found(api, "/api/extras/config-contexts/", context)["is_active"] is False


def test_unknown_choices_and_statuses_and_custom_fields_of_later_types(run: Any, api: Api, unique: Any) -> None:
    port, name = unique(), f"f{unique()}"
    sets = item("extras.customfieldchoiceset", 1, name="S", extra_choices=[["a", "A"], ["b", "B"]])
    fields = [
        item("extras.customfield", 1, name=f"{name}s", type="select", object_types=[["dcim", "device"]], choice_set=1),
        item(
            "extras.customfield",
            2,
            name=f"{name}o",
            type="object",
            object_types=[["dcim", "device"]],
            related_object_type=["dcim", "site"],
        ),
    ]
    *needed, one = device(unique, status="in-repair")
    one["fields"]["custom_field_data"] = {f"{name}s": "b", f"{name}o": 1}
    report = run(*needed, one, sets, *fields, interface(1, port, type="1.6tbase-future"))
    assert not {outcome for key, outcome in report.outcomes.items()} & {"refused"}, report.reasons
    shown = found(api, "/api/dcim/interfaces/", port)
    assert shown["type"]["value"] == "other" and "1.6tbase-future" in shown["custom_fields"].values()
    shown = found(api, "/api/dcim/devices/", one["fields"]["name"])
    assert shown["status"]["value"] == "in-repair"
    assert shown["custom_fields"][f"{name}o"] == shown["site"]["name"] and shown["custom_fields"][f"{name}s"] == "b"


def test_tags_of_objects_without_tags_here_are_kept_as_names(run: Any, api: Api, unique: Any) -> None:
    name, tag = unique(), unique()
    report = run(
        named("dcim.region", 1, name, parent=None),
        named("extras.tag", 1, tag, color="ff0000"),
        item("extras.taggeditem", 1, content_type=["dcim", "region"], object_id=1, tag=1),
    )
    assert report.outcomes["extras.taggeditem", 1] == CREATED
    assert [tag] in found(api, "/api/dcim/regions/", name)["custom_fields"].values()


def test_objects_that_cannot_be_read_are_refused_and_do_not_stop_the_others(run: Any, unique: Any) -> None:
    report = run(
        named("dcim.site", 1, unique(), status="active"),
        named("dcim.site", 2, unique(), status="active", region=["a", "b"]),
        item("dcim.devicetype", 1, model=unique(), u_height="tall"),
    )
    assert report.outcomes["dcim.site", 1] == CREATED
    assert report.outcomes["dcim.site", 2] == report.outcomes["dcim.devicetype", 1] == REFUSED
    assert report.reasons["dcim.site", 2] == "region: a key is expected"
