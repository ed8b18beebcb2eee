"""Business rules that were found by comparing netinv with the reference service: each with the text of its error."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api

TYPES, LOCATIONS, SITES = "/api/dcim/location-types/", "/api/dcim/locations/", "/api/dcim/sites/"
DEVICE_TYPES, DEVICES, INTERFACES = "/api/dcim/device-types/", "/api/dcim/devices/", "/api/dcim/interfaces/"
CHASSIS, RACKS, TAGS = "/api/dcim/virtual-chassis/", "/api/dcim/racks/", "/api/extras/tags/"
SCHEMAS, TENANTS, VLANS = "/api/extras/config-context-schemas/", "/api/tenancy/tenants/", "/api/ipam/vlans/"
MACHINES, MACHINE_INTERFACES = "/api/virtualization/virtual-machines/", "/api/virtualization/interfaces/"


@pytest.fixture
def site(make: Any) -> Any:
    """A site."""
    return make(SITES, status="active")


@pytest.fixture
def device_type(make: Any, unique: Any) -> Any:
    """A device type without components."""
    return make(DEVICE_TYPES, model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])


@pytest.fixture
def make_device(make: Any, device_type: Any, site: Any) -> Any:
    """``make_device(…)``: a device of that type at the site."""
    common = {
        "device_type": device_type["id"],
        "device_role": make("/api/dcim/device-roles/")["id"],
        "site": site["id"],
        "status": "active",
    }
    return lambda **fields: make(DEVICES, **{**common, **fields})


@pytest.fixture
def add_interface(api: Api) -> Any:
    """``add_interface(device, name, type, …)``: an interface; ``status=400`` gives its errors."""

    def add(device: Any, name: str, type: str = "1000base-t", *, status: int = 201, **fields: Any) -> Any:
        return api.post(
            INTERFACES,
            {"device": device["id"], "name": name, "type": type, "status": "active", **fields},
            status=status,
        )

    return add


LONG_EMAIL = ["Ensure this field has no more than 254 characters.", "Enter a valid email address."]
SLUG = ['Enter a valid "slug" consisting of Unicode letters, numbers, underscores, or hyphens.']


@pytest.mark.parametrize(
    ("path", "body", "errors"),
    [
        (SITES, {"status": True}, {"status": ["Object with slug=True does not exist."]}),
        (SITES, {"status": [None]}, {"status": ["Object with slug=[None] does not exist."]}),
        (SITES, {"status": "NoSuch"}, {"status": ["Object with slug=nosuch does not exist."]}),
        (SITES, {"status": "active", "contact_email": "x" * 400}, {"contact_email": LONG_EMAIL}),
        (TAGS, {"slug": "a.b", "content_types": ["dcim.site"]}, {"slug": SLUG}),
    ],
)
def test_wrong_values_are_named_as_they_were_sent(path: str, body: Any, errors: Any, api: Api, unique: Any) -> None:
    assert api.post(path, {"name": unique(), "slug": unique(), **body}, status=400) == errors


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "“-1” is not a valid UUID."),
        (5, 'Invalid pk "5" - object does not exist.'),
        (True, "Incorrect type. Expected pk value, received bool."),
        (1.5, "“1.5” is not a valid UUID."),
    ],
)
def test_a_reference_that_is_an_id_is_refused_as_it_was_sent(value: Any, message: str, api: Api) -> None:
    assert api.post("/api/dcim/inventory-items/", {"parent": value}, status=400)["parent"] == [message]
    assert api.post("/api/extras/config-contexts/", {"sites": [value]}, status=400)["sites"] == [message]


def test_a_blank_id_is_none(make: Any, make_device: Any) -> None:
    assert make("/api/dcim/inventory-items/", device=make_device()["id"], parent="")["parent"] is None


def test_a_choice_that_is_read_as_text_is_not_null(api: Api) -> None:
    refused = ["This field may not be null."]
    assert api.post("/api/dcim/cables/", {"type": None}, status=400)["type"] == refused
    assert api.post("/api/extras/relationships/", {"required_on": None}, status=400)["required_on"] == refused


def test_a_port_is_a_number_and_not_null(api: Api) -> None:
    refused = {"0": ["This field may not be null."], "1": ["A valid integer is required."]}
    assert api.post("/api/ipam/services/", {"ports": [None, "zz", 80]}, status=400)["ports"] == refused


def test_a_blank_number_is_none(api: Api, make: Any) -> None:
    assert make(SITES, status="active", latitude=" ", longitude="")["latitude"] is None


@pytest.mark.parametrize("name", ["Region", "SITES", "rackgroup", "Rack Groups"])
def test_some_names_of_location_types_are_reserved(name: str, api: Api, unique: Any) -> None:
    assert api.post(TYPES, {"name": name, "slug": unique()}, status=400) == {
        "name": ["This name is reserved for future use."]
    }


def test_topmost_locations_have_different_names(api: Api, make: Any, site: Any, unique: Any) -> None:
    kind, name = make(TYPES), unique()
    body = {"location_type": kind["id"], "status": "active", "site": site["id"], "name": name}
    taken = {"name": ["A root-level location with this name already exists."]}
    assert api.post(LOCATIONS, [{**body, "slug": unique()}, {**body, "slug": unique()}], status=400) == [{}, taken]
    there, other = make(LOCATIONS, **body), make(LOCATIONS, **{**body, "name": unique()})
    assert (
        api.post(LOCATIONS, {**body, "slug": unique(), "site": make(SITES, status="active")["id"]}, status=400) == taken
    )
    assert api.patch(other["url"], {"name": name}, status=400) == taken
    assert api.patch(there["url"], {"name": name, "description": "same"})["description"] == "same"


def test_locations_below_others_have_no_site_and_different_names(api: Api, make: Any, site: Any, unique: Any) -> None:
    outer = make(TYPES)
    inner, other = make(TYPES, parent=outer["id"]), make(TYPES)
    building = make(LOCATIONS, location_type=outer["id"], status="active", site=site["id"])
    body = {"location_type": inner["id"], "status": "active", "name": unique(), "slug": unique()}
    refused = {"site": [f"A location of type {inner['name']} must not have an associated Site."]}
    assert api.post(LOCATIONS, {**body, "site": site["id"]}, status=400) == refused
    room = api.post(LOCATIONS, {**body, "parent": building["id"]})
    again = api.post(LOCATIONS, {**body, "slug": unique(), "parent": building["id"]}, status=400)
    assert again == {"non_field_errors": ["The fields parent, name must make a unique set."]}
    words = f"Changing the type of an existing Location (from {inner['name']} to {other['name']} in this case) is not permitted."
    assert api.patch(room["url"], {"location_type": other["id"]}, status=400) == {"location_type": [words]}


def test_slugs_of_device_types_are_unique_by_manufacturer(api: Api, device_type: Any, unique: Any) -> None:
    body = {"manufacturer": device_type["manufacturer"]["id"], "model": unique(), "slug": device_type["slug"]}
    assert api.post(DEVICE_TYPES, body, status=400) == {
        "non_field_errors": ["The fields manufacturer, slug must make a unique set."]
    }


def test_templates_of_power_ports_allocate_no_more_than_they_draw(api: Api, device_type: Any) -> None:
    path, body = (
        "/api/dcim/power-port-templates/",
        {"device_type": device_type["id"], "name": "p", "maximum_draw": 10, "allocated_draw": 10},
    )
    template = api.post(path, body)
    refused = {"allocated_draw": ["Allocated draw cannot exceed the maximum draw (9W)."]}
    assert api.post(path, {**body, "name": "q", "maximum_draw": 9}, status=400) == refused
    assert api.patch(template["url"], {"maximum_draw": 9}, status=400) == refused


def test_a_position_that_is_not_given_may_be_taken_too(api: Api, make_device: Any) -> None:
    device = make_device()
    rear = api.post("/api/dcim/rear-ports/", {"device": device["id"], "name": "r", "type": "mpo", "positions": 2})
    front = {"device": device["id"], "type": "lc", "rear_port": rear["id"]}
    assert api.post("/api/dcim/front-ports/", {**front, "name": "a"})["rear_port_position"] == 1
    taken = {"non_field_errors": ["The fields rear_port, rear_port_position must make a unique set."]}
    assert api.post("/api/dcim/front-ports/", {**front, "name": "b"}, status=400) == taken


def test_a_type_with_device_bays_does_not_become_a_child(api: Api, make: Any, device_type: Any) -> None:
    api.patch(device_type["url"], {"subdevice_role": "parent"})
    api.post("/api/dcim/device-bay-templates/", {"device_type": device_type["id"], "name": "b"})
    refused = api.patch(device_type["url"], {"subdevice_role": "child"}, status=400)
    assert refused["subdevice_role"] == [
        "Must delete all device bay templates associated with this device before declassifying it as a parent device."
    ]


def test_rack_groups_nest_within_a_site(api: Api, make: Any, site: Any, unique: Any) -> None:
    groups, other = "/api/dcim/rack-groups/", make(SITES, status="active")
    parent = make(groups, site=site["id"])
    refused = api.post(
        groups, {"name": unique(), "slug": unique(), "site": other["id"], "parent": parent["id"]}, status=400
    )
    assert refused == {
        "__all__": [f"Parent rack group ({parent['name']}) must belong to the same site ({other['name']})"]
    }


@pytest.mark.parametrize(
    ("units", "messages"),
    [
        ([], ["This field cannot be blank."]),
        ([-1], ["Ensure this value is greater than or equal to 0.", "Invalid unit(s) for 42U rack: -1"]),
        ([0], ["Invalid unit(s) for 42U rack: 0"]),
    ],
)
def test_reservations_name_units(units: Any, messages: Any, api: Api, make: Any, site: Any) -> None:
    rack = make(RACKS, site=site["id"], status="active")
    body = {
        "rack": rack["id"],
        "units": units,
        "user": api.get("/api/users/users/")["results"][0]["id"],
        "description": "d",
    }
    assert api.post("/api/dcim/rack-reservations/", body, status=400) == {"units": messages}


def test_the_master_of_a_chassis_stays_in_it(api: Api, make: Any, make_device: Any) -> None:
    chassis = make(CHASSIS)
    master, member = (make_device(virtual_chassis=chassis["id"], vc_position=position) for position in (1, 2))
    api.patch(chassis["url"], {"master": master["id"]})
    refused = {"virtual_chassis": [f"The master device for the virtual chassis ({chassis['name']}) may not be removed"]}
    out = {"virtual_chassis": None, "vc_position": None}
    assert api.patch(master["url"], out, status=400) == refused
    assert api.patch(DEVICES, [{"id": master["id"], **out}], status=400) == refused
    assert api.patch(member["url"], out)["virtual_chassis"] is None
    api.patch(chassis["url"], {"master": None})
    assert api.patch(master["url"], out)["virtual_chassis"] is None


def test_interfaces_are_found_by_kind(api: Api, make_device: Any, add_interface: Any) -> None:
    device = make_device()
    for name, type_ in (
        ("e", "1000base-t"),
        ("v", "virtual"),
        ("w", "ieee802.11ac"),
        ("x", "ieee802.11ax"),
        ("a", "lag"),
    ):
        add_interface(device, name, type_)
    found = {
        kind: [item["name"] for item in api.get(INTERFACES, {"device_id": device["id"], "kind": kind})["results"]]
        for kind in KINDS
    }
    assert found == {"physical": ["e", "x"], "virtual": ["a", "v"], "wireless": ["w"], "zz": []}


KINDS = ("physical", "virtual", "wireless", "zz")


def test_virtual_interfaces_are_no_parents(make_device: Any, add_interface: Any) -> None:
    device = make_device()
    parent = add_interface(device, "v1", "virtual")
    refused = add_interface(device, "v2", "virtual", parent_interface=parent["id"], status=400)
    assert refused == {"parent_interface": ["Virtual interfaces may not be parents of other interfaces."]}


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("zz", "Invalid MAC address format: zz"),
        (5, "Invalid MAC address format: 5"),
        ([1], "Not a valid string."),
        (True, "Not a valid string."),
        ("00:11:22:33:44:55:66", "Ensure this field has no more than 18 characters."),
    ],
)
def test_what_is_wrong_with_a_hardware_address_is_said(
    address: Any, message: str, make_device: Any, add_interface: Any
) -> None:
    assert add_interface(make_device(), "e", mac_address=address, status=400) == {"mac_address": [message]}


def test_an_untagged_vlan_needs_a_mode(api: Api, make: Any, make_device: Any, add_interface: Any) -> None:
    vlan, device = make(VLANS, vid=7, status="active"), make_device()
    refused = {"untagged_vlan": ["Mode must be set when specifying untagged_vlan"]}
    assert add_interface(device, "e", untagged_vlan=vlan["id"], status=400) == refused
    port = add_interface(device, "e", untagged_vlan=vlan["id"], mode="access")
    assert api.patch(port["url"], {"mode": None}, status=400) == refused
    assert api.patch(port["url"], {"mode": None, "untagged_vlan": None})["mode"] is None


def test_a_termination_in_a_network_has_no_location(api: Api, make: Any, site: Any) -> None:
    provider = make("/api/circuits/providers/")
    network = make("/api/circuits/provider-networks/", provider=provider["id"])
    kind = make("/api/circuits/circuit-types/")
    circuit = make("/api/circuits/circuits/", cid="C", provider=provider["id"], type=kind["id"], status="active")
    place = make(LOCATIONS, location_type=make(TYPES)["id"], status="active", site=site["id"])
    body = {"circuit": circuit["id"], "term_side": "A", "location": place["id"], "provider_network": network["id"]}
    refused = {"__all__": ["A circuit termination cannot attach to both a location and a provider network."]}
    assert api.post("/api/circuits/circuit-terminations/", body, status=400) == refused


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (SITES, "asn", "A valid integer is required."),
        (SITES, "time_zone", "A valid timezone is required."),
        (SITES, "status", "This field may not be null."),
        ("/api/extras/computed-fields/", "content_type", "This field may not be null."),
        ("/api/ipam/prefixes/", "prefix", "This field may not be blank."),
    ],
)
def test_blank_is_no_number_status_or_content_type(path: str, field: str, message: str, api: Api) -> None:
    assert api.post(path, {field: ""}, status=400)[field] == [message]


def test_a_tag_keeps_the_content_types_that_it_is_used_for(api: Api, make: Any) -> None:
    tag = make(TAGS, content_types=["dcim.site", "dcim.rack"])
    make(SITES, status="active", tags=[tag["id"]])
    refused = {"content_types": ["Unable to remove dcim.site. Dependent objects were found."]}
    assert api.patch(tag["url"], {"content_types": ["dcim.rack"]}, status=400) == refused
    assert api.patch(tag["url"], {"content_types": []}, status=400) == refused
    assert api.patch(tag["url"], {"content_types": ["dcim.site"]})["content_types"] == ["dcim.site"]


@pytest.mark.parametrize(
    ("path", "label"),
    [(TAGS, "dcim.manufacturer"), (TAGS, "extras.tag"), ("/api/extras/statuses/", "dcim.manufacturer")],
)
def test_tags_and_statuses_are_for_models_that_have_them(path: str, label: str, api: Api, unique: Any) -> None:
    body = {"name": unique(), "slug": unique(), "content_types": [label]}
    assert api.post(path, body, status=400) == {"content_types": [f"Invalid content type: {label}"]}


@pytest.mark.parametrize(
    "schema", [{"type": "object"}, {"type": "string"}, {"properties": {}}, {"type": ["object"], "properties": {}}, True]
)
def test_schemas_are_of_objects_with_properties(schema: Any, api: Api, unique: Any) -> None:
    words = "Context data is an object: the schema must be of type object and specify a set of properties."
    assert api.post(SCHEMAS, {"name": unique(), "slug": unique(), "data_schema": schema}, status=400) == {
        "data_schema": [words]
    }


def test_of_several_custom_fields_the_first_that_is_wrong_is_named(api: Api, make: Any, unique: Any) -> None:
    slugs = [unique().replace("-", "_") for _ in range(2)]
    for weight, slug in enumerate(slugs):
        body = {"label": slug, "slug": slug, "type": "integer", "content_types": ["ipam.rir"], "weight": weight}
        api.post("/api/extras/custom-fields/", body, version="1.6")
    body = {"name": unique(), "slug": unique(), "custom_fields": dict.fromkeys(reversed(slugs), "zz")}
    refused = api.post("/api/ipam/rirs/", body, status=400, version="1.6")
    assert refused == {"__all__": [f"Invalid value for custom field '{slugs[0]}': Value must be an integer."]}


def test_names_of_users_are_unique(api: Api, unique: Any) -> None:
    body = {"username": unique(), "password": "violet-anchor-37"}
    api.post("/api/users/users/", body)
    assert api.post("/api/users/users/", body, status=400) == {
        "username": ["A user with that username already exists."]
    }


def test_associations_in_symmetric_relationships_name_both_objects(api: Api, make: Any, unique: Any) -> None:
    one, two, three = (make(TENANTS) for _ in range(3))
    ends = {"source_type": "tenancy.tenant", "destination_type": "tenancy.tenant"}
    kinds = {}
    for kind in ("symmetric-many-to-many", "symmetric-one-to-one"):
        kinds[kind] = api.post(
            "/api/extras/relationships/", {"name": unique(), "slug": unique().replace("-", "_"), "type": kind, **ends}
        )

    def associate(kind: str, source: Any, destination: Any, status: int) -> Any:
        body = {
            "relationship": kinds[kind]["id"],
            **ends,
            "source_id": source["id"],
            "destination_id": destination["id"],
        }
        return api.post("/api/extras/relationship-associations/", body, status=status)

    for kind in kinds:
        associate(kind, one, two, 201)
    name = {kind: found["name"] for kind, found in kinds.items()}
    mirrored = [
        f"A {name['symmetric-many-to-many']} association already exists between {two['name']} and {one['name']}"
    ]
    assert associate("symmetric-many-to-many", two, one, 400) == {"__all__": mirrored}
    single = f"Unable to create more than one {name['symmetric-one-to-one']} association involving {one['name']} (peer)"
    assert associate("symmetric-one-to-one", three, one, 400) == {"destination": [single]}
    assert associate("symmetric-one-to-one", one, three, 400) == {"source": [single]}


def test_the_number_of_a_group_is_called_id(api: Api) -> None:
    described = api.options("/api/users/groups/")["actions"]["POST"]["id"]
    assert (described["type"], described["label"], described["read_only"]) == ("integer", "ID", True)
