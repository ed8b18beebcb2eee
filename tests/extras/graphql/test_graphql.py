"""GraphQL: what can be asked for, who may see it, what it costs, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Api, Case, Service, Unique
from tests.support.cabling_fixtures import Plant
from tests.support.contract import every_resource

GRAPHQL = "/api/graphql/"
DEVICES, INTERFACES, ADDRESSES, SITES = (
    "/api/dcim/devices/",
    "/api/dcim/interfaces/",
    "/api/ipam/ip-addresses/",
    "/api/dcim/sites/",
)
TENANTS, TAGS, FIELDS = "/api/tenancy/tenants/", "/api/extras/tags/", "/api/extras/custom-fields/"


def ask(api: Api, query: str, status: int = 200, operation: str | None = None, **variables: Any) -> Any:
    """The answer to a query: its data, unless there are errors."""
    body = {"query": query, "variables": variables, **({"operationName": operation} if operation else {})}
    answer = api.post(GRAPHQL, body, status=status)
    return answer["data"] if answer.keys() == {"data"} else answer


def faults(api: Api, query: str, status: int = 400, **variables: Any) -> list[str]:
    """What is wrong with a query, in words."""
    return [error["message"] for error in ask(api, query, status, **variables)["errors"]]


@pytest.fixture
def plant(api: Api, unique: Unique) -> Plant:
    """A site with what devices need."""
    return Plant(api, unique)


@pytest.fixture
def make_devices(plant: Plant, api: Api, unique: Unique) -> Any:
    """``make_devices(3, 2)``: the names of three devices with two interfaces each, and two addresses on each of
    those.
    """

    def make(count: int, ports: int = 2) -> list[str]:
        made = api.post(DEVICES, [{"name": unique(), **plant.hardware} for _ in range(count)])
        ends = [
            {"device": device["id"], "name": f"eth{n}", "type": "1000base-t", "status": "active"}
            for device in made
            for n in range(ports)
        ]
        bound = [
            {
                "address": f"2001:db8::{n}:{m}/64",
                "status": "active",
                "assigned_object_type": "dcim.interface",
                "assigned_object_id": shown["id"],
            }
            for n, shown in enumerate(api.post(INTERFACES, ends))
            for m in (1, 2)
        ]
        api.post(ADDRESSES, bound)
        return [device["name"] for device in made]

    return make


DEEP = """query ($names: [String]) { devices(name: $names) {
  name status { slug name } site { name region { name } } device_type { model manufacturer { name } } tags { name }
  interfaces { name type tagged_vlans { vid } ip_addresses { address host prefix_length family status { name } interface { name device { name } } } }
} }"""


def test_what_is_asked_for_comes_in_the_shape_in_which_it_is_asked_for(
    api: Api, make_devices: Any, plant: Plant
) -> None:
    (name,) = make_devices(1)
    (device,) = ask(api, DEEP, names=[name])["devices"]
    assert (device["name"], device["status"], device["tags"]) == (name, {"slug": "active", "name": "Active"}, [])
    assert device["site"] == {"name": api.get(f"{SITES}{plant.site}/")["name"], "region": None}
    assert [(port["name"], port["type"]) for port in device["interfaces"]] == [
        ("eth0", "A_1000BASE_T"),
        ("eth1", "A_1000BASE_T"),
    ]
    address = device["interfaces"][1]["ip_addresses"][0]
    assert address == {
        "address": "2001:db8::1:1/64",
        "host": "2001:db8::1:1",
        "prefix_length": 64,
        "family": 6,
        "status": {"name": "Active"},
        "interface": {"name": "eth1", "device": {"name": name}},
    }


def test_its_statements_are_as_many_for_three_objects_as_for_thirty(
    api: Api, make_devices: Any, statements: Any
) -> None:
    few, many = make_devices(3), make_devices(30, 4)
    ask(api, DEEP, names=few)
    with statements() as for_few:
        ask(api, DEEP, names=few)
    with statements() as for_many:
        answer = ask(api, DEEP, names=many)
    assert sum(len(port["ip_addresses"]) for device in answer["devices"] for port in device["interfaces"]) == 240
    assert len(for_many) == len(for_few), "\n".join(for_many)
    assert len(for_few) <= 16


def test_only_what_is_asked_for_is_selected(api: Api, make_devices: Any, statements: Any) -> None:
    names = make_devices(2)
    ask(api, "query ($n: [String]) { devices(name: $n) { serial } }", n=names)
    with statements() as found:
        ask(api, "query ($n: [String]) { devices(name: $n) { serial } }", n=names)
    (reading,) = [text for text in found if "serial" in text]
    assert "asset_tag" not in reading
    assert "JOIN" not in reading


@pytest.fixture(scope="session")
def query_fields(service: Service) -> list[dict[str, Any]]:
    """The fields of the query type, each with its type."""
    answer = ask(service.api, "{ __schema { queryType { fields { name type { name ofType { name } } } } } }")
    fields: list[dict[str, Any]] = answer["__schema"]["queryType"]["fields"]
    return fields


@pytest.mark.parametrize("label", every_resource())
def test_all_that_a_model_has_can_be_read(service: Service, query_fields: list[dict[str, Any]], label: str) -> None:
    """Every value and every way from it, for an object with every field filled; as many statements for it as for more
    of them.
    """
    case = Case(service, label).for_reading()
    shown = case.filled()
    case.make_many(2)
    type_ = f"{case.endpoint.schema_name}Type"
    many = next(field["name"] for field in query_fields if field["type"]["ofType"] == {"name": type_})
    one = next(field["name"] for field in query_fields if field["type"]["name"] == type_)
    described = ask(
        service.api, f'{{ __type(name: "{type_}") {{ fields {{ name type {{ kind ofType {{ kind }} }} }} }} }}'
    )["__type"]["fields"]
    described = [
        field for field in described if not field["name"].startswith(("cf_", "cpf_", "rel_"))
    ]  # other tests define any number of them
    ways = {
        field["name"]
        for field in described
        if {field["type"]["kind"], (field["type"]["ofType"] or {}).get("kind")} & {"OBJECT", "INTERFACE"}
    }
    asked = " ".join(
        f"{field['name']} {{ id __typename }}" if field["name"] in ways else field["name"] for field in described
    )
    with service.configured(graphql_max_relations=0):
        answer = ask(
            service.api,
            f"query ($id: ID) {{ one: {one}(id: $id) {{ {asked} }} {many}(limit: 3) {{ {asked} }} }}",
            id=str(shown["id"]),
        )
    assert answer["one"]["id"] == str(shown["id"]) and answer["one"]["_type"] == label
    assert 1 <= len(answer[many]) <= 3
    values = {
        name: shown[name]
        for name in ("display", "name", "slug", "description", "url", "last_updated")
        if name in answer["one"] and name in shown
    }
    assert {name: answer["one"][name] for name in values} == values


def test_ways_lead_back_too(api: Api, make_devices: Any, plant: Plant) -> None:
    names = make_devices(2)
    answer = ask(
        api,
        "query ($id: ID!) { site(id: $id) { devices { name interfaces { name } consoleports { name } } racks { name } } }",
        id=plant.site,
    )
    assert {device["name"] for device in answer["site"]["devices"]} == set(names)
    assert answer["site"]["racks"] == []


def test_a_key_that_is_unique_leads_back_to_one(api: Api, make_devices: Any) -> None:
    (name,) = make_devices(1)
    (device,) = ask(
        api, "query ($n: [String]) { devices(name: $n) { id interfaces { ip_addresses { id } } } }", n=[name]
    )["devices"]
    first, second = (address["id"] for address in device["interfaces"][0]["ip_addresses"])
    api.patch(f"{DEVICES}{device['id']}/", {"primary_ip6": first})
    query = "query ($id: ID) { ip_address(id: $id) { primary_ip6_for { name primary_ip { id } primary_ip4 { id } } } }"
    assert ask(api, query, id=first) == {
        "ip_address": {"primary_ip6_for": {"name": name, "primary_ip": {"id": first}, "primary_ip4": None}}
    }
    assert ask(api, query, id=second) == {"ip_address": {"primary_ip6_for": None}}


def test_the_ends_of_cables_are_found_by_kind_or_whatever_they_are(plant: Plant, api: Api) -> None:
    here, there, (side, _) = plant.end(), plant.end(), plant.circuit()
    plant.cables((here, there), (plant.end(), side))
    found = ask(
        api,
        """query ($here: ID, $side: ID) {
          interface(id: $here) { connected_endpoint { __typename id ... on InterfaceType { device { name } } }
            connected_interface { id } connected_circuit_termination { id } cable { termination_a_type status { slug } } }
          circuit_termination(id: $side) { cable_peer { __typename } cable_peer_interface { id } }
        }""",
        here=here.id,
        side=side.id,
    )
    assert found["interface"]["connected_endpoint"]["__typename"] == "InterfaceType"
    assert found["interface"]["connected_endpoint"]["device"]["name"]
    assert found["interface"]["connected_interface"] == {"id": there.id}
    assert found["interface"]["connected_circuit_termination"] is None
    assert found["interface"]["cable"] == {"termination_a_type": "dcim.interface", "status": {"slug": "connected"}}
    assert found["circuit_termination"]["cable_peer"] == {"__typename": "InterfaceType"}
    assert found["circuit_termination"]["cable_peer_interface"] is not None


def test_custom_fields_and_tags_and_contexts_are_there(api: Api, make: Any, unique: Unique, make_devices: Any) -> None:
    slug = unique().replace("-", "_")
    tag = make(TAGS, content_types=["dcim.device"])
    api.post(FIELDS, {"label": slug, "slug": slug, "type": "integer", "content_types": ["dcim.device"]})
    (name,) = make_devices(1)
    device = api.get(DEVICES, {"name": name})["results"][0]
    api.patch(device["url"], {"custom_fields": {slug: 7}, "tags": [tag["id"]], "local_context_data": {"ntp": [name]}})
    assert ask(api, f"query ($x: Int) {{ devices(cf_{slug}: $x) {{ name }} }}", x=8) == {"devices": []}
    query = f"{{ devices(cf_{slug}: 7) {{ name cf_{slug} custom_field_data tags {{ name color }} config_context tagged: tags(limit: 1) {{ slug }} }} }}"
    (shown,) = ask(api, query)["devices"]
    assert (shown["name"], shown[f"cf_{slug}"], shown["custom_field_data"][slug]) == (name, 7, 7)
    assert shown["tags"] == [{"name": tag["name"], "color": tag["color"]}]
    assert shown["config_context"]["ntp"] == [name]
    assert shown["tagged"] == [{"slug": tag["slug"]}]


def test_a_plugin_s_models_are_there_by_themselves(api: Api, service: Service) -> None:
    window = Case(service, "example.maintenancewindow").make()
    answer = ask(
        api,
        "query ($id: ID) { maintenance_window(id: $id) { name site { maintenance_windows { id } } } }",
        id=window["id"],
    )
    assert answer["maintenance_window"]["name"] == window["name"]
    assert {"id": window["id"]} in answer["maintenance_window"]["site"]["maintenance_windows"]


# -- arguments


def test_filters_are_those_of_the_resource(api: Api, make_devices: Any, plant: Plant) -> None:
    first, second = make_devices(2)
    names = [first, second]

    def found(arguments: str) -> list[str]:
        return [
            device["name"]
            for device in ask(api, f"query ($n: [String]) {{ devices(name: $n, {arguments}) {{ name }} }}", n=names)[
                "devices"
            ]
        ]

    assert found(f'name__ic: "{first.upper()}"') == [first]
    assert found(f'site_id: "{plant.site}", status: ["active", "planned"]') == names
    assert found("has_primary_ip: true") == []
    assert found("limit: 1, offset: 1") == [second]
    assert found("limit: 0") == []
    assert found("serial: null, tag: []") == names
    assert faults(api, '{ devices(status: "nope") { name } }', 200) == [
        "status: Select a valid choice. nope is not one of the available choices."
    ]
    assert faults(api, "{ devices(limit: -1) { name } }", 200) == [
        "limit: Ensure this value is greater than or equal to 0."
    ]
    assert faults(api, "{ devices(nosuch: 1) { name } }") == [
        'Unknown argument "nosuch" on field "devices" of type "Query".'
    ]


def test_an_error_of_one_field_leaves_the_others(api: Api, make_devices: Any) -> None:
    (name,) = make_devices(1)
    query = 'query ($n: [String]) { devices(name: $n) { name interfaces(type: "nope") { name } } bad: sites(status: "nope") { name } }'
    answer = ask(api, query, n=[name])
    assert answer["data"] == {"devices": [{"name": name, "interfaces": None}], "bad": None}
    assert [error["path"] for error in answer["errors"]] == [["devices", "interfaces"], ["bad"]]


def test_each_list_has_filters_and_a_part_of_its_own(api: Api, make_devices: Any, statements: Any) -> None:
    names = make_devices(3, 4)
    query = 'query ($n: [String]) { devices(name: $n) { a: interfaces(name__n: "eth0", limit: 2, offset: 1) { name } b: interfaces(name: "eth0") { name } } }'
    for device in ask(api, query, n=names)["devices"]:
        assert device == {"a": [{"name": "eth2"}, {"name": "eth3"}], "b": [{"name": "eth0"}]}
    with statements() as for_one:
        ask(api, query, n=names[:1])
    with statements() as for_all:
        ask(api, query, n=names)
    assert len(for_one) == len(for_all)


def test_variables_fit_where_a_value_would(api: Api, make: Any) -> None:
    site = make(SITES, status="active", asn=4200000000)
    for declared, value in (("[String]", [site["name"]]), ("String!", site["name"]), ("String", site["name"])):
        assert ask(api, f"query ($x: {declared}) {{ sites(name: $x) {{ slug asn }} }}", x=value) == {
            "sites": [{"slug": site["slug"], "asn": 4200000000}]
        }
    assert ask(api, "query ($x: String!) { site(id: $x) { name } }", x=site["id"]) == {"site": {"name": site["name"]}}
    assert ask(api, "query ($x: [ID], $n: [String]) { sites(id: $x, name: $n) { name } }", x=site["id"]) == {
        "sites": [{"name": site["name"]}]
    }
    assert faults(api, "query ($x: Boolean) { sites(name: $x) { name } }", x=True) == [
        'Variable "$x" of type "Boolean" used in position expecting type "[String]".'
    ]
    assert len(faults(api, "query ($x: Int!) { sites(limit: $x) { name } }")) == 1


def test_aliases_fragments_directives_and_operations(api: Api, make: Any) -> None:
    site = make(SITES, status="active")
    query = """query one($id: ID, $no: Boolean = false) {
      a: site(id: $id) { ...F __typename } b: site(id: $id) { id @include(if: $no) ... on SiteType { n: slug } } }
    query two { __typename } fragment F on SiteType { name ...G } fragment G on AnyObject { url @skip(if: $no) }"""
    shown = {"name": site["name"], "url": site["url"], "__typename": "SiteType"}
    assert ask(api, query, operation="one", id=site["id"]) == {"a": shown, "b": {"n": site["slug"]}}
    assert faults(api, query) == ["Must provide operation name if query contains multiple operations."]
    assert ask(api, "query two { __typename __schema { queryType { name } } }", operation="two") == {
        "__typename": "Query",
        "__schema": {"queryType": {"name": "Query"}},
    }
    assert ask(api, "query two { __typename }", 400, operation="three")["errors"] == [
        {"message": 'Unknown operation named "three".'}
    ]


@pytest.mark.night
def test_the_schema_describes_itself(api: Api) -> None:
    from graphql import build_client_schema, get_introspection_query

    found = ask(api, get_introspection_query())
    assert ask(api, get_introspection_query()) == found  # as it was kept
    described = build_client_schema(found)
    assert "devices" in described.query_type.fields  # type: ignore[union-attr]
    assert "whisper" not in described.type_map["TenantType"].fields  # type: ignore[attr-defined]


# -- who may see what


def test_without_credentials_nothing_is_answered(anonymous: Api) -> None:
    assert anonymous.post(GRAPHQL, {"query": "{ sites { name } }"}, status=403) == {
        "detail": "Authentication credentials were not provided."
    }


def test_what_may_not_be_viewed_is_not_there_at_any_level(
    api: Api, make: Any, make_user: Any, make_devices: Any, plant: Plant
) -> None:
    first, second = make_devices(2)
    query = "query ($n: [String]) { devices(name: $n) { name site { name devices { name } } device_type { model } interfaces { name } } racks { name } }"
    limited = make_user(
        ("view", "dcim.device", {"name": first}), ("view", "dcim.site"), ("view", "dcim.interface", {"name": "eth1"})
    )
    site = api.get(f"{SITES}{plant.site}/")["name"]
    (shown,) = ask(limited.api, query, n=[first, second])["devices"]
    assert shown == {
        "name": first,
        "site": {"name": site, "devices": [{"name": first}]},
        "device_type": None,
        "interfaces": [{"name": "eth1"}],
    }
    assert ask(limited.api, query, n=[first])["racks"] == []
    nobody = make_user()
    assert ask(nobody.api, query, n=[first, second]) == {"devices": [], "racks": []}
    assert ask(nobody.api, f'{{ site(id: "{plant.site}") {{ name }} }}') == {"site": None}
    elsewhere = make_user(("view", "dcim.device"), ("view", "dcim.site", {"name": "elsewhere"}))
    assert [device["site"] for device in ask(elsewhere.api, query, n=[first, second])["devices"]] == [None, None]


def test_an_object_of_any_type_is_shown_to_who_may_view_it(api: Api, make_user: Any, make_devices: Any) -> None:
    (name,) = make_devices(1)
    query = 'query ($d: [String]) { ip_addresses(device: $d, address: "2001:db8::0:1/64") { assigned_object { display } interface { name } } }'
    (shown,) = ask(api, query, d=[name])["ip_addresses"]
    assert shown == {"assigned_object": {"display": "eth0"}, "interface": {"name": "eth0"}}
    blind = make_user(("view", "ipam.ipaddress"))
    assert ask(blind.api, query, d=[name])["ip_addresses"] == []  # no parameter leads by what is hidden
    by_address = (
        'query { ip_addresses(address: "2001:db8::0:1/64") { assigned_object { display } interface { name } } }'
    )
    hidden = ask(blind.api, by_address)["ip_addresses"]
    assert hidden and all(item == {"assigned_object": None, "interface": None} for item in hidden)


def test_a_token_that_only_reads_may_ask(service: Service) -> None:
    reader = service.user(("view", "dcim.site"), write_enabled=False)
    assert ask(reader.api, "{ sites(limit: 0) { name } }") == {"sites": []}


@pytest.mark.parametrize(
    ("start", "name"), [("webhooks", "secret"), ("tokens", "key"), ("users", "password"), ("tokens", "key_hash")]
)
def test_secrets_are_no_part_of_it(api: Api, start: str, name: str) -> None:
    assert faults(api, f"{{ {start} {{ {name} }} }}")[0].startswith(f'Cannot query field "{name}" on type ')


# -- what is refused


@pytest.mark.parametrize(
    ("query", "message", "place"),
    [
        (
            "{ sites { ",
            "Syntax Error GraphQL (1:11) Expected Name, found EOF\n\n1: { sites { \n             ^\n",
            (1, 11),
        ),
        (
            "{\n  sites {\n    5\n  }\n}",
            'Syntax Error GraphQL (3:5) Expected Name, found Int "5"\n\n2:   sites {\n3:     5\n       ^\n4:   }\n',
            (3, 5),
        ),
        ("{ nope }", 'Cannot query field "nope" on type "Query". Did you mean "note", "notes" or "role"?', (1, 3)),
        ("mutation { x }", "Schema is not configured for mutations", (1, 1)),
        ("subscription { x }", "Schema is not configured for subscriptions", (1, 1)),
    ],
)
def test_errors_say_what_and_where(api: Api, query: str, message: str, place: tuple[int, int]) -> None:
    assert ask(api, query, 400) == {
        "errors": [{"message": message, "locations": [{"line": place[0], "column": place[1]}]}]
    }


@pytest.mark.parametrize("body", [{}, {"query": ""}, {"query": None}, {"query": 5}])
def test_there_must_be_a_query(api: Api, body: Any) -> None:
    assert api.post(GRAPHQL, body, status=400) == {"errors": [{"message": "Must provide query string."}]}


def test_bodies_that_are_none(api: Api) -> None:
    assert "non_field_errors" in api.post(GRAPHQL, [], status=400)
    for variables in ([], "{", 5, "[1]"):
        assert api.post(GRAPHQL, {"query": "{ __typename }", "variables": variables}, status=400 if variables else 200)
    assert api.post(
        GRAPHQL,
        {"query": "query ($n: [String]) { sites(name: $n) { name } }", "variables": '{"n": ["none"]}'},
        status=200,
    ) == {"data": {"sites": []}}
    assert "detail" in api.send("POST", GRAPHQL, b"{", headers={"Content-Type": "application/json"}, status=400).json
    assert faults(api, "fragment F on SiteType { name }") == ["Must provide an operation."]


def test_the_path_speaks_as_the_others_do(api: Api) -> None:
    assert api.get(GRAPHQL, status=405) == {"detail": 'Method "GET" not allowed.'}
    assert api.options(GRAPHQL)["parses"] == ["application/json"]
    assert api.get("/api/")["graphql"] == "http://localhost/api/graphql/"


BOMB = "query { sites { ...F0 } } " + " ".join(
    f"fragment F{n} on SiteType {{ tenant {{ sites {{ ...F{n + 1} }} }} x: tenant {{ sites {{ ...F{n + 1} }} }} }}"
    for n in range(9)
)
BOMB += " fragment F9 on SiteType { name }"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            "{ sites " + "{ racks { site " * 8 + "{ name }" + "} }" * 8 + " }",
            "This query is nested more than 12 levels deep (netinv.graphql_max_depth).",
        ),
        (
            "{ " + " ".join(f"s{n}: sites {{ name }}" for n in range(101)) + " }",
            "This query follows more than 100 relations (netinv.graphql_max_relations).",
        ),
        ("{ sites {" + " name" * 501 + " } }", "This query names more than 500 fields."),
        (BOMB, "This query is nested more than 12 levels deep (netinv.graphql_max_depth)."),
        ("{ sites {" + " tenant { sites {" * 3000 + " name" + " } }" * 3000 + "} }", ""),
    ],
)
def test_a_query_has_bounds(api: Api, query: str, message: str, service: Service) -> None:
    with service.configured(graphql_max_depth=12, graphql_max_relations=100):
        (found,) = faults(api, query)
    assert found == message or not message


def test_an_answer_has_bounds(api: Api, make_devices: Any, service: Service) -> None:
    names = make_devices(3)
    query = "query ($n: [String]) { devices(name: $n) { interfaces { ip_addresses { address } } } }"
    large = query.replace("$n)", "$n, limit: 2000000000)").replace("interfaces", "interfaces(limit: 2000000000)")
    for asked, most, status in (
        (query, 20, 400),
        (query, 2, 400),
        (query, 21, 200),
        (query, 0, 200),
        (large, 2, 400),
        (large, 20, 400),
        (large, 21, 200),
    ):
        with service.configured(graphql_max_objects=most):
            answer = ask(api, asked, status, n=names)
        if status == 400:
            (error,) = answer["errors"]
            assert error["message"].startswith(
                f"This query asks for more than {most} objects (netinv.graphql_max_objects)."
            )


def test_relationships_and_computed_fields_are_members(api: Api, make: Any, unique: Unique, statements: Any) -> None:
    word = unique().replace("-", "_").lower()
    made = [
        api.post(
            "/api/extras/computed-fields/",
            {"label": word, "slug": word, "content_type": "tenancy.tenant", "template": "{{ obj.name | upper }}"},
        )
    ]
    types = {"source_type": "tenancy.tenant", "destination_type": "tenancy.tenant"}
    for name, more in (
        (word, {"destination_type": "dcim.rackrole"}),
        (f"{word}_above", {"type": "one-to-many"}),
        (f"{word}_peer", {"type": "symmetric-one-to-one"}),
    ):
        made.append(api.post("/api/extras/relationships/", {"name": name, "slug": name, **types, **more}))
    one, two, roles = make(TENANTS), make(TENANTS), [make("/api/dcim/rack-roles/") for _ in range(2)]
    sent = {word: ("destination", roles), f"{word}_above": ("destination", [two]), f"{word}_peer": ("peer", [two])}
    api.patch(
        one["url"],
        {
            "relationships": {
                slug: {side: {"objects": [item["id"] for item in items]}} for slug, (side, items) in sent.items()
            }
        },
    )
    query = f"""query ($ids: [String]) {{ tenants(id: $ids) {{ cpf_{word} rel_{word} {{ name }}
        rel_{word}_above_source {{ name }} rel_{word}_above_destination {{ name }} rel_{word}_peer {{ name }} }} }}"""

    def shown(*tenants: Any) -> Any:
        found = ask(api, query, ids=[tenant["id"] for tenant in tenants])["tenants"]
        return {
            item[f"cpf_{word}"]: [
                item[f"rel_{word}{end}"] for end in ("", "_above_source", "_above_destination", "_peer")
            ]
            for item in found
        }

    named = {tenant["id"]: {"name": tenant["name"]} for tenant in (one, two)}
    assert shown(one, two) == {
        one["name"].upper(): [[{"name": role["name"]} for role in roles], None, [named[two["id"]]], named[two["id"]]],
        two["name"].upper(): [[], named[one["id"]], [], named[one["id"]]],
    }
    counts = []
    for tenants in ((one,), (one, two)):
        with statements() as found:
            shown(*tenants)
        counts.append(len(found))
    assert counts[0] == counts[1]
    for thing in made:
        api.delete(thing["url"])


def test_the_argument_of_types_has_both_names(plant: Plant, make_devices: Any, api: Api) -> None:
    """Version 1.6 calls it ``_type``; both together are an error."""
    make_devices(1)
    found = [ask(api, f'{{ interfaces({name}: ["virtual"], limit: 5) {{ id }} }}') for name in ("type", "_type")]
    assert found[0] == found[1]
    assert "not one of the available choices" in faults(api, '{ interfaces(_type: ["zz"]) { id } }', status=200)[0]
    both = '{ interfaces(_type: ["virtual"], type: ["lag"]) { id } }'
    assert "not both" in faults(api, both, status=200)[0]
