"""Component templates: a new device gets what its type says, recorded like any other change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api
from netinv_testing.checks.query_counts import CREATE_MANY, CREATE_ONE

DEVICES = "/api/dcim/devices/"
INTERFACES = "/api/dcim/interfaces/"
TEMPLATES = "/api/dcim/interface-templates/"
TYPES = "/api/dcim/device-types/"
NAMED = ("view", ["dcim.devicetype", "dcim.devicerole", "dcim.site"])


@pytest.fixture
def make_type(api: Api, make: Any, unique: Any) -> Any:
    """``make_type("eth0", …)``: a device type with templates of these names."""

    def post(*names: str, **fields: Any) -> Any:
        made = make(TYPES, model=unique(), manufacturer=make("/api/dcim/manufacturers/")["id"])
        if names:
            api.post(
                TEMPLATES, [{"device_type": made["id"], "name": name, "type": "1000base-t", **fields} for name in names]
            )
        return made

    return post


@pytest.fixture
def place(make: Any) -> dict[str, Any]:
    """What every device names beside its type."""
    return {
        "device_role": make("/api/dcim/device-roles/")["id"],
        "site": make("/api/dcim/sites/", status="active")["id"],
        "status": "active",
    }


@pytest.fixture
def body(place: dict[str, Any], unique: Any) -> Any:
    """``body(device_type, …)``: a body for a device."""
    return lambda kind, **fields: {"name": unique(), "device_type": kind["id"], **place, **fields}


def interfaces(api: Api, device: Any) -> list[Any]:
    """The interfaces of a device, in order."""
    found: list[Any] = api.get(INTERFACES, {"device_id": device["id"], "limit": 0})["results"]
    return found


def test_a_new_device_has_the_interfaces_of_its_type(api: Api, make_type: Any, body: Any) -> None:
    kind = make_type("eth10", "eth2")
    told = {"name": "mgmt0", "label": "MGMT", "type": "100base-tx", "mgmt_only": True, "description": "out of band"}
    api.post(TEMPLATES, {"device_type": kind["id"], **told})
    made = interfaces(api, api.post(DEVICES, body(kind)))
    assert [shown["name"] for shown in made] == ["eth2", "eth10", "mgmt0"]
    assert {name: made[2][name] for name in told} == {
        **told,
        "type": {"value": "100base-tx", "label": "100BASE-TX (10/100ME)"},
    }
    assert made[2]["status"]["value"] == "active" and made[2]["enabled"] is True


def test_each_device_of_a_batch_has_the_interfaces_of_its_own_type(api: Api, make_type: Any, body: Any) -> None:
    kinds = make_type("a", "b"), make_type("c"), make_type()
    devices = api.post(DEVICES, [body(kind) for kind in (*kinds, kinds[0])])
    assert [[shown["name"] for shown in interfaces(api, device)] for device in devices] == [
        ["a", "b"],
        ["c"],
        [],
        ["a", "b"],
    ]


def test_changes_of_a_template_or_of_a_type_leave_devices_as_they_are(api: Api, make_type: Any, body: Any) -> None:
    kind, other = make_type("eth0"), make_type("eth1")
    device = api.post(DEVICES, body(kind))
    (template,) = api.get(TEMPLATES, {"device_type": kind["slug"]})["results"]
    api.patch(template["url"], {"name": "eth9"})
    api.patch(device["url"], {"device_type": other["id"]})
    assert [shown["name"] for shown in interfaces(api, device)] == ["eth0"]


def test_the_change_log_has_what_was_made_as_the_users_in_the_same_request(
    api: Api, make_user: Any, make_type: Any, body: Any
) -> None:
    kind = make_type("eth0", "eth1")
    user = make_user(("add view", "dcim.device"), NAMED)
    device = user.api.post(DEVICES, body(kind))
    changes = [
        change
        for shown in (device, *interfaces(api, device))
        for change in api.get("/api/extras/object-changes/", {"changed_object_id": shown["id"]})["results"]
    ]
    assert [change["changed_object_type"] for change in changes] == ["dcim.device", "dcim.interface", "dcim.interface"]
    assert {change["action"]["value"] for change in changes} == {"create"}
    assert {change["user_name"] for change in changes} == {user.username}
    assert len({change["request_id"] for change in changes}) == 1


def test_who_may_add_devices_needs_no_permission_for_their_interfaces_and_gets_none(
    api: Api, make_user: Any, make_type: Any, body: Any
) -> None:
    user = make_user(("add", "dcim.device"), NAMED)
    device = user.api.post(DEVICES, body(make_type("eth0")))
    assert len(interfaces(api, device)) == 1
    user.api.post(
        INTERFACES, {"device": device["id"], "name": "eth1", "type": "virtual", "status": "active"}, status=403
    )
    user.api.get(INTERFACES, status=403)


def test_a_device_outside_of_what_is_permitted_leaves_no_interfaces(
    api: Api, make_user: Any, make_type: Any, body: Any
) -> None:
    kind = make_type("eth0")
    user = make_user(("add", "dcim.device", {"name": "permitted"}), NAMED)
    before = api.get(INTERFACES, {"limit": 1})["count"]
    user.api.post(DEVICES, body(kind), status=403)
    assert api.get(INTERFACES, {"limit": 1})["count"] == before


def test_a_device_goes_with_its_interfaces_and_a_type_with_its_templates(api: Api, make_type: Any, body: Any) -> None:
    kind = make_type("eth0")
    device = api.post(DEVICES, body(kind))
    (made,), (template,) = interfaces(api, device), api.get(TEMPLATES, {"devicetype_id": kind["id"]})["results"]
    api.delete(device["url"])
    api.get(made["url"], status=404)
    api.delete(f"{TYPES}{kind['id']}/")
    api.get(template["url"], status=404)


def test_templates_are_unique_within_their_type_and_sorted_by_it_and_naturally(api: Api, make_type: Any) -> None:
    kind = make_type("eth10", "eth2")
    error = api.post(TEMPLATES, {"device_type": kind["id"], "name": "eth2", "type": "virtual"}, status=400)
    assert error == {"non_field_errors": ["The fields device_type, name must make a unique set."]}
    shown = api.get(TEMPLATES, {"devicetype_id": kind["id"]})["results"]
    assert [template["name"] for template in shown] == ["eth2", "eth10"]
    assert "notes_url" not in shown[0] and "tags" not in shown[0]


def test_device_types_are_found_by_their_templates(api: Api, make_type: Any, unique: Any) -> None:
    name = unique()
    kind, without = make_type(name), make_type()

    def found(**query: Any) -> list[str]:
        listed = api.get(TYPES, {"id": [kind["id"], without["id"]], **query})["results"]
        return [shown["id"] for shown in listed]

    for parameter in ("interfaces", "has_interface_templates"):
        assert found(**{parameter: "true"}) == [kind["id"]]
        assert found(**{parameter: "false"}) == [without["id"]]
    assert found(interface_templates=name) == [kind["id"]]
    assert found(interface_templates__n=name) == [without["id"]]


def test_a_fault_of_what_is_made_is_one_of_the_device(api: Api, make_type: Any, body: Any, unique: Any) -> None:
    slug, kind = unique(), make_type("eth0")
    field = {"slug": slug, "label": slug, "type": "text", "required": True, "content_types": ["dcim.interface"]}
    required = api.post("/api/extras/custom-fields/", field)
    try:
        error = api.post(DEVICES, body(kind), status=400)
    finally:
        api.delete(required["url"])
    assert error == {
        "non_field_errors": [
            f"Interface eth0: Invalid value for custom field '{slug}': Required field cannot be empty."
        ]
    }


def test_components_that_a_validation_rule_refuses_are_errors_of_their_device(
    api: Api, make_type: Any, body: Any, unique: Any
) -> None:
    """One object for one device, one entry for each of a list, and the names of the components."""
    bad, plain = make_type("eth0", "eth1"), make_type()
    rule = {"name": unique(), "content_type": "dcim.interface", "requires": {"description__n": ""}}
    made = api.post("/api/extras/validation-rules/", rule | {"applies_to": {"name": ["eth0", "eth1"]}})
    try:
        one = api.post(DEVICES, body(bad), status=400)
        several = api.post(DEVICES, [body(plain), body(bad), body(plain)], status=400)
        results = api.send("POST", f"{DEVICES}?on_error=continue", [body(bad), body(plain)], status=200).json
    finally:
        api.delete(made["url"])
    assert list(one) == ["non_field_errors"] and len(one["non_field_errors"]) == 2
    for name, text in zip(("eth0", "eth1"), one["non_field_errors"], strict=True):
        assert text.startswith(f"Interface {name}: ") and rule["name"] in text
    assert several == [{}, one, {}]
    assert [item["status"] for item in results] == ["failed", "created"]


@pytest.fixture
def no_config_contexts(api: Api) -> Iterator[None]:
    """No active config context during a test: their scopes take a statement of their own."""
    path = "/api/extras/config-contexts/"
    active = [context["id"] for context in api.get(path, {"is_active": "true", "limit": 1000})["results"]]
    if active:
        api.patch(path, [{"id": key, "is_active": False} for key in active])
    yield
    if active:
        api.patch(path, [{"id": key, "is_active": True} for key in active])


@pytest.mark.night
@pytest.mark.usefixtures("no_config_contexts")
def test_devices_with_everything_are_made_within_the_budget(
    api: Api, make: Any, make_type: Any, place: dict[str, Any], body: Any, statements: Any
) -> None:
    kind = make_type(*[f"eth{number}" for number in range(48)])
    located = ["dcim.device", "dcim.rack"]
    location = make(
        "/api/dcim/locations/",
        status="active",
        location_type=make("/api/dcim/location-types/", content_types=located)["id"],
        site=place["site"],
    )
    shared = {
        "tenant": make("/api/tenancy/tenants/")["id"],
        "platform": make("/api/dcim/platforms/", manufacturer=kind["manufacturer"]["id"])["id"],
        "location": location["id"],
        "rack": make("/api/dcim/racks/", status="active", site=place["site"], location=location["id"], u_height=100)[
            "id"
        ],
        "face": "front",
        "secrets_group": make("/api/extras/secrets-groups/")["id"],
        "virtual_chassis": make("/api/dcim/virtual-chassis/")["id"],
        "device_redundancy_group": make("/api/dcim/device-redundancy-groups/", status="active")["id"],
        "device_redundancy_group_priority": 1,
        "local_context_schema": make(
            "/api/extras/config-context-schemas/", data_schema={"type": "object", "properties": {}}
        )["id"],
        "local_context_data": {"a": 1},
        "tags": [make("/api/extras/tags/", content_types=["dcim.device"])["id"]],
    }
    bodies = [body(kind, asset_tag=make_type()["slug"], position=n, vc_position=n, **shared) for n in range(1, 31)]
    api.post(DEVICES, bodies[0])  # what is configured is read once a change of it, not once a request
    with statements() as for_one:
        api.post(DEVICES, bodies[1])
    assert len(for_one) <= CREATE_ONE, "\n".join(for_one)
    with statements() as for_many:
        api.post(DEVICES, bodies[2:])
    assert len(for_many) <= CREATE_MANY and len(for_many) == len(for_one), "\n".join(for_many)
