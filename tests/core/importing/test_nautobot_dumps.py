"""Imports of files that ``nautobot-server dumpdata`` of a Nautobot 1.x wrote: tables, with keys of content types."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api

Item = dict[str, Any]
TYPES = {
    number: (app, model)
    for number, (app, model) in enumerate(
        [
            ("dcim", "site"),
            ("dcim", "device"),
            ("dcim", "interface"),
            ("dcim", "cable"),
            ("ipam", "ipaddress"),
            ("ipam", "prefix"),
        ],
        start=1,
    )
}
NUMBERS = {pair: number for number, pair in TYPES.items()}


class NautobotDump:
    """Objects of a dump; :meth:`add` returns the key of a new one. With ``natural`` content types are names."""

    def __init__(self, word: str, *, natural: bool) -> None:
        self.word, self.natural = word, natural
        self.items: list[Item] = []
        if not natural:
            for number, (app, model) in TYPES.items():
                fields = {"app_label": app, "model": model}
                self.items.append({"model": "contenttypes.contenttype", "pk": number, "fields": fields})

    def type(self, app: str, model: str) -> Any:
        """A reference to a content type."""
        return [app, model] if self.natural else NUMBERS[app, model]

    def add(self, model: str, /, **fields: Any) -> str:
        """Adds an object with the columns that all tables have."""
        key = str(uuid.uuid4())
        common = {"created": "2023-01-01", "last_updated": "2023-02-01T00:00:00Z", "_custom_field_data": {}}
        self.items.append({"model": model, "pk": key, "fields": {**common, **fields}})
        return key

    def named(self, model: str, name: str, /, **fields: Any) -> str:
        """Adds an object with a name and slug that no other test has."""
        name = f"{self.word} {name}"
        return self.add(model, name=name, slug=name.lower().replace(" ", "-"), **fields)

    def write(self, folder: Path) -> str:
        """Writes the file; returns its path."""
        path = folder / "nautobot.json"
        path.write_text(json.dumps(self.items))
        return str(path)


def sample_of(word: str, network: str, *, natural: bool) -> NautobotDump:
    """A site with two cabled devices, addresses, a service, a tag and a custom field."""
    dump = NautobotDump(word, natural=natural)
    types = [dump.type("dcim", model) for model in ("site", "device", "interface", "cable")]
    types += [dump.type("ipam", model) for model in ("ipaddress", "prefix")]
    field = word.lower().replace("-", "_")
    dump.add("extras.customfield", name=f"{field} floor", slug=field, label="", type="text", required=False,
             filter_logic="loose", weight=100, content_types=[dump.type("dcim", "site")], grouping="", default=None,
             description="", validation_regex="", advanced_ui=False)  # fmt: skip
    active, connected = (
        dump.named("extras.status", name, color="4caf50", description="x", content_types=types)
        for name in ("Running", "Plugged")
    )
    tag = dump.named("extras.tag", "Core", color="ff0000", description="", content_types=[types[0]])
    user = dump.add("users.user", username=f"{word}-user", password="!", is_active=True, config_data={})
    region = dump.named("dcim.region", "Region", parent=None, description="", lft=1, rght=2, tree_id=1, level=0)
    site = dump.named("dcim.site", "Site", _name="Site", status=active, region=region, tenant=None, asn=None,
                      latitude="51.500000", longitude="-0.100000", time_zone="Europe/London", comments="",
                      _custom_field_data={f"{field} floor": "ground"})  # fmt: skip
    dump.add("extras.taggeditem", content_type=dump.type("dcim", "site"), object_id=site, tag=tag)
    maker = dump.named("dcim.manufacturer", "Maker", description="")
    type_ = dump.add("dcim.devicetype", manufacturer=maker, model=word, slug=f"{word}-type".lower(), u_height=1,
                     is_full_depth=True, subdevice_role="", part_number="", front_image="", rear_image="",
                     comments="")  # fmt: skip
    role = dump.named("dcim.devicerole", "Role", color="aa1409", vm_role=True, description="")
    ends = []
    for name in ("a", "b"):
        device = dump.add("dcim.device", name=f"{word} {name}", _name=name, device_type=type_, device_role=role,
                          site=site, status=active, serial="", asset_tag=None, face="", position=None, comments="",
                          local_context_data={"ntp": ["::1"]}, local_context_data_owner_content_type=None,
                          primary_ip4=None, primary_ip6=None)  # fmt: skip
        ends.append((device, dump.add("dcim.interface", device=device, name="eth0", _name="eth0", type="1000base-t",
                    enabled=True, mgmt_only=False, status=active, mac_address=None, mtu=1500, mode="", label="",
                    description="", tagged_vlans=[], _path=None, cable=None,
                    _cable_peer_type=dump.type("dcim", "interface"))))  # fmt: skip
    dump.add("dcim.cable", termination_a_type=dump.type("dcim", "interface"), termination_a_id=ends[0][1],
             termination_b_type=dump.type("dcim", "interface"), termination_b_id=ends[1][1], type="cat6",
             status=connected, label="", color="", length=3, length_unit="m", _abs_length="3.0000")  # fmt: skip
    dump.add("dcim.cablepath", origin_type=dump.type("dcim", "interface"), origin_id=ends[0][1], path="[]")
    dump.add("ipam.prefix", network=f"{network}::", broadcast=f"{network}:ffff:ffff:ffff:ffff:ffff", prefix_length=48,
             status=active, vrf=None, site=site, is_pool=False, description="")  # fmt: skip
    address = dump.add("ipam.ipaddress", host=f"{network}::1", broadcast=f"{network}::ffff", prefix_length=64,
                       status=active, vrf=None, role="", dns_name="", description="", nat_inside=None,
                       assigned_object_type=dump.type("dcim", "interface"), assigned_object_id=ends[0][1])  # fmt: skip
    next(item for item in dump.items if item["pk"] == ends[0][0])["fields"]["primary_ip6"] = address
    dump.add("ipam.service", device=ends[0][0], virtual_machine=None, name=word, ports="[22, 443]", protocol="tcp",
             ipaddresses=[address], description="")  # fmt: skip
    dump.add("extras.objectchange", user=user, user_name="x", action="create", object_data={})
    dump.add("admin.logentry", user=user, object_repr="x")
    return dump


@pytest.mark.parametrize("natural", [False, True], ids=["keys of content types", "natural keys"])
def test_the_objects_of_a_file_are_imported_with_their_ids(
    command: Any, api: Api, unique: Any, tmp_path: Path, natural: bool
) -> None:
    word, network = unique(), unique.ipv6()
    dump = sample_of(word, network, natural=natural)
    path = dump.write(tmp_path)
    done = command("nautobot", path)
    assert done.exit_code == 0, done.output
    (site,) = api.get("/api/dcim/sites/", {"name": f"{word} Site"})["results"]
    assert site["id"] in {item["pk"] for item in dump.items}
    assert (site["status"]["label"], site["region"]["name"]) == (f"{word} Running", f"{word} Region")
    assert ([tag["name"] for tag in site["tags"]], list(site["custom_fields"].values())[-1]) == (
        [f"{word} Core"],
        "ground",
    )
    (device,) = api.get("/api/dcim/devices/", {"name": f"{word} a"})["results"]
    assert device["primary_ip6"]["address"] == f"{network}::1/64"
    assert device["local_context_data"] == {"ntp": ["::1"]}
    (interface,) = api.get("/api/dcim/interfaces/", {"device_id": device["id"]})["results"]
    assert interface["connected_endpoint"]["device"]["name"] == f"{word} b"
    (prefix,) = api.get("/api/ipam/prefixes/", {"prefix": f"{network}::/48"})["results"]
    assert prefix["site"]["id"] == site["id"]
    (service,) = api.get("/api/ipam/services/", {"name": word})["results"]
    assert (service["ports"], [one["id"] for one in service["ipaddresses"]]) == (
        [22, 443],
        [device["primary_ip6"]["id"]],
    )
    again = command("nautobot", path, "--json")
    counts = json.loads(again.output)["models"]
    assert counts["dcim.device"]["unchanged"] == 2
    assert not any({"created", "updated", "refused"} & outcomes.keys() for outcomes in counts.values()), counts


def test_files_that_are_no_dumps_of_nautobot_1_are_refused(command: Any, unique: Any, tmp_path: Path) -> None:
    later = NautobotDump(unique(), natural=True)
    later.named("ipam.namespace", "Global")
    done = command("nautobot", later.write(tmp_path))
    assert (done.exit_code, "as Nautobot 2.x: give the URL of the service" in done.output) == (1, True)
    without = NautobotDump(unique(), natural=True)
    without.named("extras.status", "Running", color="4caf50", content_types=[7])
    done = command("nautobot", without.write(tmp_path))
    assert (done.exit_code, "the file lacks the content type 7" in done.output) == (1, True)
    broken = NautobotDump(unique(), natural=True)
    broken.add("ipam.prefix", network="here", prefix_length=8)
    done = command("nautobot", broken.write(tmp_path))
    assert (done.exit_code, "the objects of ipam.prefix" in done.output) == (1, True)
    done = command("nautobot", str(tmp_path / "missing.json"))
    assert (done.exit_code, "is not the URL of a service" in done.output) == (1, True)
