"""Who may do what: constraints, groups, ``$user`` and what is exempt."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.models.columns import column_info
from netinv_testing import Api, Service

TENANTS = "/api/tenancy/tenants/"
NOTES = "/api/extras/notes/"
PERMISSIONS = "/api/users/permissions/"
ALL = "view add change delete"
DENIED = {"detail": "You do not have permission to perform this action."}
NOT_GIVEN = {"detail": "Authentication credentials were not provided."}


@pytest.fixture
def three(api: Api, unique: Any) -> dict[str, Any]:
    """Three tenants, ``a`` and ``b`` in one group, ``c`` without."""
    word = unique()
    group = api.post("/api/tenancy/tenant-groups/", {"name": f"{word} group"})
    made = api.post(
        TENANTS, [{"name": f"{word} {n}", "group": g} for n, g in (("a", group["id"]), ("b", group["id"]), ("c", None))]
    )
    return {"word": word, "group": group, **{item["name"][-1]: item for item in made}}


def seen(client: Api, three: dict[str, Any]) -> str:
    return "".join(item["name"][-1] for item in client.get(TENANTS, {"q": three["word"]})["results"])


def test_constraints_follow_references_and_lookups(make_user: Any, three: dict[str, Any]) -> None:
    word, group = three["word"], three["group"]
    for constraints, expected in [
        (None, "abc"),
        ({}, "abc"),
        ([], "abc"),
        ({"name": f"{word} a"}, "a"),
        ({"name__in": [f"{word} a", f"{word} c"]}, "ac"),
        ({"group__name": group["name"]}, "ab"),
        ({"group": group["id"]}, "ab"),
        ({"group__slug__startswith": word, "name__endswith": "b"}, "b"),
        ({"group__isnull": True}, "c"),
        ({"name__regex": "[bc]$"}, "bc"),
        ([{"name": f"{word} a"}, {"name": f"{word} c"}], "ac"),
    ]:
        client = make_user(("view", "tenancy.tenant", constraints)).api
        found = seen(client, three)
        assert sorted(found) == sorted(expected), constraints


SENSELESS = [
    {"nosuch": 1},
    {"name__nosuch": 1},
    {"id": "zz"},
    {"name__regex": "("},
    {"group__name__in": 5},
    {"id__in": ["zz"]},
    {"group__nosuch__name": 1},
]


@pytest.mark.parametrize(
    "constraints",
    [*SENSELESS, {"custom_field_data": {}}, {"group__tenants__nosuch": 1}, [{"name": "x"}, {"nosuch": 1}]],
)
def test_a_constraint_without_sense_is_refused(api: Api, service: Service, unique: Any, constraints: Any) -> None:
    body = {"name": unique(), "object_types": ["tenancy.tenant"], "actions": ["view"], "constraints": constraints}
    (told,) = api.post(PERMISSIONS, body, status=400)["constraints"]
    assert told.startswith("Invalid constraints for tenancy.tenant: ")
    names = [name for option in (constraints if isinstance(constraints, list) else [constraints]) for name in option]
    assert any(
        step in told.removeprefix("Invalid constraints for tenancy.tenant: ")
        for name in names
        for step in name.split("__")
    )
    sound = service.permit("view", "tenancy.tenant", {"name": "x"})
    for change in (
        {"constraints": constraints},
        {"constraints": constraints, "object_types": ["tenancy.tenant", "extras.tag"]},
    ):
        assert told in api.patch(sound["url"], change, status=400)["constraints"]
    assert list(api.patch(sound["url"], {"object_types": ["extras.note"]}, status=400)) == ["constraints"]


def test_constraints_compare_only_what_is_shown(api: Api, unique: Any) -> None:
    for label, constraints in (
        ("users.user", {"password__startswith": "$argon2"}),
        ("users.user", {"is_superuser": True}),
        ("users.token", {"key_hash__startswith": "a"}),
        ("dcim.rack", {"reservations__user__password__contains": "a"}),
        ("tenancy.tenant", {"custom_field_data__contains": "a"}),
        ("extras.webhook", {"secret": ""}),
    ):
        body = {"name": unique(), "object_types": [label], "actions": ["view"], "constraints": constraints}
        assert list(api.post(PERMISSIONS, body, status=400)) == ["constraints"], constraints


@pytest.mark.parametrize("constraints", SENSELESS)
def test_a_constraint_that_has_lost_its_sense_grants_nothing(
    service: Service, make_user: Any, three: dict[str, Any], constraints: Any
) -> None:
    account = make_user()
    permission = service.permit("view change", "tenancy.tenant", {"name": "x"}, users=[account.id])
    table = service.registry["users.objectpermission"].table
    with service.unit_of_work() as uow:
        uow.execute(sa.update(table).where(table.c.id == uuid.UUID(permission["id"])).values(constraints=constraints))
    service.api.patch(permission["url"], {"description": "processes forget what they cached"})
    client = account.api
    assert seen(client, three) == ""
    client.get(f"{TENANTS}{three['a']['id']}/", status=404)
    client.patch(f"{TENANTS}{three['a']['id']}/", {"description": "x"}, status=404)


def test_permissions_add_up(make_user: Any, three: dict[str, Any]) -> None:
    word = three["word"]
    client = make_user(
        ("view", "tenancy.tenant", {"name": f"{word} a"}), ("view", "tenancy.tenant", {"name": f"{word} b"})
    ).api
    assert sorted(seen(client, three)) == ["a", "b"]


def test_each_action_has_its_own_constraints(make_user: Any, three: dict[str, Any]) -> None:
    client = make_user(("view", "tenancy.tenant"), ("change", "tenancy.tenant", {"name": f"{three['word']} a"})).api
    client.patch(f"{TENANTS}{three['a']['id']}/", {"description": "x"})
    assert client.patch(f"{TENANTS}{three['b']['id']}/", {"description": "x"}, status=404) == {"detail": "Not found."}
    assert client.post(TENANTS, {"name": "x"}, status=403) == DENIED
    assert client.delete(f"{TENANTS}{three['a']['id']}/", status=403) == DENIED


def test_a_change_may_not_lead_out_of_the_constraint(api: Api, make_user: Any, three: dict[str, Any]) -> None:
    client = make_user((ALL, "tenancy.tenant", {"group": three["group"]["id"]}), ("view", "tenancy.tenantgroup")).api
    path = f"{TENANTS}{three['a']['id']}/"
    assert client.patch(path, {"group": None}, status=403) == DENIED
    assert (
        client.patch(
            TENANTS,
            [{"id": three["b"]["id"], "description": "kept?"}, {"id": three["a"]["id"], "group": None}],
            status=403,
        )
        == DENIED
    )
    assert api.get(path)["group"]["id"] == three["group"]["id"]
    assert api.get(f"{TENANTS}{three['b']['id']}/")["description"] == ""
    assert client.post(TENANTS, {"name": f"{three['word']} d"}, status=403) == DENIED
    client.post(TENANTS, {"name": f"{three['word']} d", "group": three["group"]["id"]})


def test_dollar_user_is_who_asks(api: Api, make_user: Any, three: dict[str, Any]) -> None:
    note = {"assigned_object_type": "tenancy.tenant", "assigned_object_id": three["a"]["id"], "note": "n"}
    mine, other = (
        make_user(("view add", "extras.note", {"user": "$user"}), ("view", "tenancy.tenant")) for _ in range(2)
    )
    made = mine.api.post(NOTES, note)
    assert [item["id"] for item in mine.api.get(NOTES)["results"]] == [made["id"]]
    assert other.api.get(NOTES)["count"] == 0
    other.api.get(f"{NOTES}{made['id']}/", status=404)


def test_groups_hand_on_their_permissions_at_once(
    api: Api, service: Service, make_user: Any, three: dict[str, Any], unique: Any
) -> None:
    group = api.post("/api/users/groups/", {"name": unique()})
    account = make_user(groups=[group["id"]])
    assert account.api.get(TENANTS, status=403) == DENIED
    permission = service.permit("view", "tenancy.tenant", {"name": f"{three['word']} a"}, groups=[group["id"]])
    assert seen(account.api, three) == "a"
    path = f"/api/users/permissions/{permission['id']}/"
    api.patch(path, {"enabled": False})
    assert account.api.get(TENANTS, status=403) == DENIED
    api.patch(path, {"enabled": True, "constraints": None})
    assert seen(account.api, three) == "abc"
    api.patch(f"/api/users/users/{account.id}/", {"groups": []})
    assert account.api.get(TENANTS, status=403) == DENIED


def test_an_unpermitted_method_is_denied_before_anything_else(make_user: Any) -> None:
    stranger = make_user().api
    for method, path, body in (
        ("POST", TENANTS, b"no json"),
        ("PATCH", f"{TENANTS}zz/", b"{}"),
        ("GET", f"{TENANTS}?nosuch=1", b""),
    ):
        assert stranger.send(method, path, body, status=403).json == DENIED


def test_deleting_needs_permission_for_what_was_asked_only(api: Api, make_user: Any, three: dict[str, Any]) -> None:
    client = make_user(("delete", "tenancy.tenantgroup")).api
    client.delete(f"/api/tenancy/tenant-groups/{three['group']['id']}/")
    assert api.get(f"{TENANTS}{three['a']['id']}/")["group"] is None


def test_what_is_exempt_anyone_may_read(anonymous: Api, make_user: Any, configured: Any, three: dict[str, Any]) -> None:
    stranger = make_user().api
    for names, also_groups in ((("tenancy.tenant",), False), (("*",), True)):
        with configured(exempt_view_permissions=names):
            for client in (stranger, anonymous):
                assert sorted(seen(client, three)) == ["a", "b", "c"]
                client.get(f"{TENANTS}{three['a']['id']}/")
                client.get("/api/tenancy/tenant-groups/", status=200 if also_groups else 403)
                client.get("/api/users/users/", status=403)
            assert anonymous.post(TENANTS, {"name": "x"}, status=403) == NOT_GIVEN
            assert stranger.post(TENANTS, {"name": "x"}, status=403) == DENIED
            anonymous.get(TENANTS, headers={"Authorization": "Token zz"}, status=403)
    assert anonymous.get(TENANTS, status=403) == NOT_GIVEN


@pytest.mark.night
def test_a_star_opens_no_account_credential_or_log(service: Service, anonymous: Api, configured: Any) -> None:
    by_name = {label for label, endpoint in service.registry.endpoints.items() if endpoint.exempt_by_name_only}
    assert by_name >= {
        *("auth.group", "users.user", "users.token", "users.objectpermission", "extras.objectchange"),
        *(
            "extras.webhook",
            "extras.webhookdelivery",
            "extras.secret",
            "extras.secretsgroup",
            "extras.secretsgroupassociation",
        ),
        *(
            "extras.gitrepository",
            "extras.job",
            "extras.jobresult",
            "extras.joblogentry",
            "extras.scheduledjob",
            "extras.jobhook",
            "extras.jobbutton",
        ),
    }
    with configured(exempt_view_permissions=("*",)):
        for label, endpoint in service.registry.endpoints.items():
            assert (anonymous.send("GET", f"{endpoint.path}?limit=1").status_int == 403) is (label in by_name), label
        assert anonymous.get("/api/extras/object-changes/feed/", status=403) == NOT_GIVEN
    with configured(exempt_view_permissions=("*", "extras.webhook")):
        anonymous.get("/api/extras/webhooks/")
        anonymous.get("/api/extras/webhook-deliveries/", status=403)


def test_what_has_confidential_columns_is_open_by_name_only(service: Service) -> None:
    for endpoint in service.registry.endpoints.values():
        assert endpoint.exempt_by_name_only or not any(
            column_info(column).confidential for column in endpoint.table.c
        ), endpoint.label


def test_exempt_reading_overrides_constraints(make_user: Any, configured: Any, three: dict[str, Any]) -> None:
    client = make_user(("view", "tenancy.tenant", {"name": f"{three['word']} a"})).api
    assert seen(client, three) == "a"
    with configured(exempt_view_permissions=("tenancy.tenant",)):
        assert sorted(seen(client, three)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ({"actions": []}, {"actions": ["This field cannot be blank."]}),
        ({"object_types": ["no.such"]}, {"object_types": ["Invalid content type: no.such"]}),
    ],
)
def test_a_permission_says_what_and_on_what(api: Api, unique: Any, body: Any, refused: Any) -> None:
    assert (
        api.post(
            "/api/users/permissions/",
            {"name": unique(), "object_types": ["tenancy.tenant"], "actions": ["view"], **body},
            status=400,
        )
        == refused
    )


def test_permissions_are_found_by_their_types(api: Api, make: Any, service: Service) -> None:
    body = {"actions": ["view"], "constraints": None}
    sites = make(PERMISSIONS, object_types=["dcim.site"], **body)
    racks = make(PERMISSIONS, object_types=["dcim.rack", "dcim.device"], **body)
    numbers = {label: found.id for label, found in service.registry.content_types.items()}
    both = {"id": [sites["id"], racks["id"]]}
    for site, rack in (("dcim.site", "dcim.rack"), (numbers["dcim.site"], numbers["dcim.rack"])):
        assert [shown["id"] for shown in api.get(PERMISSIONS, both | {"object_types": site})["results"]] == [
            sites["id"]
        ]
        assert api.get(PERMISSIONS, both | {"object_types": [site, rack]})["count"] == 2
        assert [shown["id"] for shown in api.get(PERMISSIONS, both | {"object_types__n": site})["results"]] == [
            racks["id"]
        ]
    assert api.get(PERMISSIONS, {"object_types": "zz"}, status=400) == {"object_types": ["“zz” is not a valid value."]}
    for unknown in ("99999999", "dcim.nothing"):
        told = f"Select a valid choice. {unknown} is not one of the available choices."
        assert api.get(PERMISSIONS, {"object_types": unknown}, status=400) == {"object_types": [told]}


def test_groups_are_named_by_numbers(api: Api, unique: Any) -> None:
    body = {"username": unique(), "password": "plenty of pass words"}
    for wrong, kind in (
        ("zz", "str"),
        ("00000000-0000-4000-8000-000000000000", "str"),
        (True, "bool"),
        (1.5, "float"),
        ([1], "list"),
    ):
        told = [f"Incorrect type. Expected pk value, received {kind}."]
        assert api.post("/api/users/users/", body | {"groups": [wrong]}, status=400) == {"groups": told}
    for unknown in (10**9, 10**18, -1, None):
        told = [f'Invalid pk "{unknown}" - object does not exist.']
        assert api.post("/api/users/users/", body | {"groups": [unknown]}, status=400) == {"groups": told}
    group = api.post("/api/users/groups/", {"name": unique()})
    assert [
        shown["id"] for shown in api.post("/api/users/users/", body | {"groups": [str(group["id"])]})["groups"]
    ] == [group["id"]]
