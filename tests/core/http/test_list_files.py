"""Lists as files and files as bodies: CSV, TSV and YAML over HTTP."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
import yaml

from netinv_core.http.versions import NEWEST
from netinv_testing import Api, Case, Service

SITES = "/api/dcim/sites/"
TENANTS = "/api/tenancy/tenants/"
TAGS = "/api/extras/tags/"
REGIONS = "/api/dcim/regions/"
FIELDS = "/api/extras/custom-fields/"
CHANGES = "/api/extras/object-changes/"
CSV, TSV, YAML = "text/csv", "text/tab-separated-values", "application/yaml"
GENERATED = ("id", "display", "url", "notes_url", "created", "last_updated", "termination_a", "termination_b")


def table(response: Any, delimiter: str = ",") -> list[dict[str, str]]:
    """The rows of an answer, by the names of columns."""
    return list(csv.DictReader(io.StringIO(response.body.decode(), newline=""), delimiter=delimiter))


def text_of(*rows: Sequence[str]) -> bytes:
    """A file in CSV."""
    stream = io.StringIO()
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()


def export(api: Api, path: str, status: int = 200, **query: Any) -> Any:
    """The answer to a request for a list in CSV."""
    return api.send("GET", path, query={"format": "csv", **query}, status=status)


def send(api: Api, method: str, path: str, content: bytes, media_type: str = CSV, **options: Any) -> Any:
    """The answer to a file."""
    status = options.pop("status", 201 if method == "POST" else 200)
    return api.send(method, path, content, status=status, headers={"Content-Type": media_type}, **options)


# -- export


def test_a_list_is_exported_by_its_accept_header_and_by_the_parameter_format(api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    by_header = api.send("GET", TENANTS, query={"id": tenant["id"]}, headers={"Accept": CSV}, status=200)
    by_parameter = export(api, TENANTS, id=tenant["id"])
    assert by_header.body == by_parameter.body
    assert by_header.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert by_header.headers["Content-Disposition"] == 'attachment; filename="tenants.csv"'
    assert by_header.headers["API-Version"] == NEWEST
    (row,) = table(by_header)
    assert (row["id"], row["name"], row["slug"]) == (tenant["id"], tenant["name"], tenant["slug"])


def test_columns_are_chosen_by_name(api: Api, make: Any) -> None:
    site = make(SITES, status="active", region=(region := make(REGIONS))["id"])
    response = export(api, SITES, id=site["id"], columns="name,region,region.name,status,display,tags")
    assert response.body.decode().splitlines() == [
        "name,region,region.name,status,display,tags",
        f"{site['name']},{region['slug']},{region['name']},active,{site['name']},",
    ]
    refused = export(api, SITES, 400, columns="name,nothing,region.comments").json
    assert refused == {
        "columns": [
            f"Select a valid choice. {name} is not one of the available choices."
            for name in ("nothing", "region.comments")
        ]
    }


def test_columns_are_a_parameter_of_tables_only(api: Api) -> None:
    assert api.get(TENANTS, {"columns": "name"}, status=400) == {"columns": ["Unknown filter field"]}


def test_a_table_has_tabs_if_it_is_tsv(api: Api, make: Any) -> None:
    tenant = make(TENANTS, description="a,b")
    (row,) = table(api.send("GET", TENANTS, query={"id": tenant["id"], "format": "tsv"}, status=200), "\t")
    assert row["description"] == "a,b"


def test_all_objects_are_exported_whatever_the_page_size(api: Api, make: Any, unique: Any, configured: Any) -> None:
    word = unique()
    names = sorted(make(TENANTS, description=word)["name"] for _ in range(4))
    with configured(paginate_count=1, max_page_size=2):
        assert [row["name"] for row in table(export(api, TENANTS, description=word))] == names
        assert [row["name"] for row in table(export(api, TENANTS, description=word, limit=0))] == names
        assert [row["name"] for row in table(export(api, TENANTS, description=word, limit=2, offset=1))] == names[1:3]
    with configured(max_export_size=3):
        refused = export(api, TENANTS, 400, description=word).json
        assert refused == {"format": ["At most 3 objects are exported at once: filter them, or use limit and offset."]}
        assert len(table(export(api, TENANTS, description=word, limit=3))) == 3


def test_yaml_holds_the_representations_in_the_requested_version(api: Api, make: Any) -> None:
    tenant = make(TENANTS, description="no: 12:30", comments="yes\n- 1")
    for version in ("1.2", NEWEST):
        response = api.send("GET", TENANTS, query={"id": tenant["id"], "format": "yaml"}, version=version, status=200)
        assert response.headers["API-Version"] == version
        assert yaml.load(response.body, yaml.BaseLoader)[0]["description"] == "no: 12:30"
        assert list(yaml.safe_load(response.body)[0]) == list(
            api.get(TENANTS, {"id": tenant["id"]}, version=version)["results"][0]
        )


def test_an_unknown_format_is_not_found_and_a_detail_has_no_files(api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    assert api.send("GET", TENANTS, query={"format": "ods"}, status=404)
    assert api.send("GET", f"{TENANTS}{tenant['id']}/", query={"format": "csv"}, status=404)
    assert api.send("GET", f"{TENANTS}{tenant['id']}/", headers={"Accept": CSV}, status=406)


def test_who_sees_part_of_a_list_exports_that_part(service: Service, make: Any) -> None:
    seen, hidden = make(TENANTS), make(TENANTS)
    reader = service.user(("view", "tenancy.tenant", {"name": seen["name"]}), ("view", "dcim.site")).api
    assert [row["name"] for row in table(export(reader, TENANTS))] == [seen["name"]]
    sites = [make(SITES, status="active", tenant=tenant["id"]) for tenant in (seen, hidden)]
    rows = {row["id"]: row["tenant"] for row in table(export(reader, SITES, id=[site["id"] for site in sites]))}
    assert rows == {sites[0]["id"]: seen["slug"], sites[1]["id"]: hidden["id"]}
    export(service.user().api, TENANTS, 403)


def test_a_name_that_several_objects_have_is_exported_as_an_id(service: Service) -> None:
    case = Case(service, "dcim.interface")
    site, other = (case.samples.make(service.registry["dcim.site"]) for _ in range(2))
    name = service.unique()
    devices = [
        case.samples.make(service.registry["dcim.device"], name=name, site=place["id"], location=None, rack=None)
        for place in (site, other)
    ]
    interface = case.make(device=devices[0]["id"])
    (row,) = table(export(service.api, case.path, id=interface["id"]))
    assert row["device"] == devices[0]["id"]
    service.api.delete(f"/api/dcim/devices/{devices[1]['id']}/")
    (row,) = table(export(service.api, case.path, id=interface["id"]))
    assert row["device"] == name


# -- what was exported imports again


@pytest.mark.parametrize(
    "label",
    ["dcim.site", "dcim.device", "dcim.interface", "dcim.cable", "ipam.prefix", "ipam.ipaddress", "tenancy.tenant"],
)
@pytest.mark.parametrize("media_type", [CSV, YAML])
def test_deleted_objects_are_made_again_from_their_file(service: Service, label: str, media_type: str) -> None:
    case = Case(service, label)
    objects = [case.filled(), *case.make_many(2)]
    before = case.list_of(objects)["results"]
    content = case.api.send(
        "GET",
        case.path,
        query={"id": [item["id"] for item in objects]},
        headers={"Accept": f"{media_type};version={NEWEST}"},
    ).body
    case.api.delete(case.path, [{"id": item["id"]} for item in objects])
    created = send(case.api, "POST", case.path, content, media_type).json
    after = [case.read(item) for item in created]
    assert [without_generated(item) for item in after] == [without_generated(item) for item in before]


def without_generated(item: dict[str, Any]) -> dict[str, Any]:
    """A representation without what is generated for each object."""
    return {name: value for name, value in item.items() if name not in GENERATED}


HOSTILE = [
    "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "'=1+1", "''@x", "'quoted'", "-5", "+49 30 123", '""', "'\"\"", '"', ",", ";",
    "a,\"b\"\nc", "line\r\nbreak", "Zürich – 東京 🚀", "\u202eabc", "null", "true", "[1]", "{}", "\ufeffx", "＝1",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("media_type", [CSV, TSV, YAML])
def test_hostile_cells_are_restored(api: Api, make: Any, text: str, media_type: str) -> None:
    tenant = make(TENANTS, description=text, comments=text)
    content = api.send(
        "GET", TENANTS, query={"id": tenant["id"]}, headers={"Accept": f"{media_type};version={NEWEST}"}, status=200
    ).body
    api.patch(f"{TENANTS}{tenant['id']}/", {"description": "", "comments": ""})
    (restored,) = send(api, "PATCH", TENANTS, content, media_type).json
    assert (restored["description"], restored["comments"]) == (text, text)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("@x", "'@x"),
        ("-a", "'-a"),
        ("'=x", "''=x"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        ("'a", "'a"),
    ],
)
def test_cells_that_a_spreadsheet_would_run_are_escaped(api: Api, make: Any, text: str, cell: str) -> None:
    tenant = make(TENANTS, description=text)
    assert table(export(api, TENANTS, id=tenant["id"]))[0]["description"] == cell


def test_lists_are_separated_by_commas_and_items_with_commas_are_quoted(api: Api, make: Any, unique: Any) -> None:
    tags = [make(TAGS, content_types=["dcim.site", "tenancy.tenant"], name=f"{unique()}, Inc.") for _ in range(2)]
    tenant = make(TENANTS, tags=[tag["id"] for tag in tags])
    (row,) = table(export(api, TENANTS, id=tenant["id"]))
    assert sorted(row["tags"].split(",")) == sorted(tag["slug"] for tag in tags)
    (row,) = table(export(api, TAGS, id=tags[0]["id"]))
    assert row["content_types"] == "dcim.site,tenancy.tenant"
    content = text_of(["id", "tags"], [tenant["id"], tags[0]["slug"]])
    assert [tag["id"] for tag in send(api, "PATCH", TENANTS, content).json[0]["tags"]] == [tags[0]["id"]]
    assert send(api, "PATCH", TENANTS, text_of(["id", "tags"], [tenant["id"], ""])).json[0]["tags"] == []
    refused = send(api, "PATCH", TENANTS, text_of(["id", "tags"], [tenant["id"], '"open']), status=400).json
    assert refused == [{"row": 2, "tags": ["Items are separated by commas; an item with a comma is in double quotes."]}]


@pytest.fixture
def custom_field(api: Api, unique: Any) -> Any:
    """``custom_field(type, values)``: a custom field of tenants, deleted afterwards."""
    urls = []

    def define(kind: str, choices: Sequence[str] = ()) -> str:
        slug = unique().replace("-", "_")
        field = api.post(FIELDS, {"type": kind, "slug": slug, "label": slug, "content_types": ["tenancy.tenant"]})
        urls.append(field["url"])
        for choice in choices:
            api.post("/api/extras/custom-field-choices/", {"field": field["id"], "value": choice})
        return slug

    yield define
    for url in urls:
        api.delete(url)


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("text", "a,b", "a,b"),
        ("text", "", '""'),
        ("text", '""', '\'""'),
        ("text", None, ""),
        ("integer", -7, "-7"),
        ("integer", None, ""),
        ("boolean", False, "false"),
        ("boolean", None, ""),
        ("date", "2030-01-31", "2030-01-31"),
        ("url", "http://example.org/?a=1,2", "http://example.org/?a=1,2"),
        ("json", {"a": [1, "x,y"]}, '{"a":[1,"x,y"]}'),
        ("json", "text", '"text"'),
        ("markdown", "# T\n\n- x", "# T\n\n- x"),
        ("select", "red, dark", "red, dark"),
        ("multi-select", ["blue", "red, dark"], 'blue,"red, dark"'),
        ("multi-select", None, ""),
    ],
)
def test_custom_fields_have_columns_of_their_own(
    api: Api, make: Any, custom_field: Any, kind: str, value: Any, cell: str
) -> None:
    slug = custom_field(kind, ("red, dark", "blue") if "select" in kind else ())
    tenant = make(TENANTS, custom_fields={slug: value})
    content = export(api, TENANTS, id=tenant["id"])
    assert table(content)[0][f"cf_{slug}"] == cell
    count = api.get(CHANGES, {"changed_object_id": tenant["id"]})["count"]
    assert send(api, "PATCH", TENANTS, content.body).json[0]["custom_fields"][slug] == value
    assert api.get(CHANGES, {"changed_object_id": tenant["id"]})["count"] == count
    created = send(api, "POST", TENANTS, text_of(["name", f"cf_{slug}"], [tenant["name"] + "b", cell])).json
    assert created[0]["custom_fields"][slug] == value


def test_null_and_blank_are_told_apart(service: Service) -> None:
    case = Case(service, "dcim.device")
    nameless, named = case.make(name=None), case.make(name=service.unique())
    rows = table(export(service.api, case.path, id=[nameless["id"], named["id"]], columns="id,name,asset_tag"))
    assert {row["id"]: row["name"] for row in rows} == {nameless["id"]: "", named["id"]: named["name"]}
    content = text_of(["id", "name"], [named["id"], ""])
    assert send(service.api, "PATCH", case.path, content).json[0]["name"] is None
    content = text_of(["id", "name"], [named["id"], '""'])
    assert send(service.api, "PATCH", case.path, content).json[0]["name"] == ""
    assert table(export(service.api, case.path, id=named["id"]))[0]["name"] == '""'


# -- import


def test_rows_create_objects_with_references_by_name_and_by_path(api: Api, make: Any, unique: Any) -> None:
    region, tenant, name = make(REGIONS), make(TENANTS), unique()
    rows = [name, "active", region["name"], tenant["slug"], "1.5"], [f"{name}b", "active", "", "", ""]
    content = text_of(["name", "status", "region.name", "tenant", "latitude"], *rows)
    first, second = send(api, "POST", SITES, content).json
    assert (first["name"], first["slug"], first["region"]["id"], first["tenant"]["id"]) == (
        name,
        name,
        region["id"],
        tenant["id"],
    )
    assert (float(first["latitude"]), second["latitude"], second["region"], second["tenant"]) == (1.5, None, None, None)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_the_delimiter_is_recognised_and_a_byte_order_mark_accepted(
    api: Api, unique: Any, delimiter: str, start: bytes
) -> None:
    name = unique()
    content = (
        start
        + delimiter.join(("name", "description")).encode()
        + b"\r\n"
        + delimiter.join((name, '"a;b,c\td"')).encode()
        + b"\r\n\r\n"
    )
    assert [(item["name"], item["description"]) for item in send(api, "POST", TENANTS, content).json] == [
        (name, "a;b,c\td")
    ]


def test_tsv_is_separated_by_tabs(api: Api, unique: Any) -> None:
    name = unique()
    assert send(api, "POST", TENANTS, f"name\tdescription\n{name}\ta,b\n".encode(), TSV).json[0]["description"] == "a,b"


def test_rows_without_an_id_are_matched_by_their_natural_key(service: Service, api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    (changed,) = send(api, "PATCH", TENANTS, text_of(["slug", "description"], [tenant["slug"], "by slug"])).json
    assert (changed["id"], changed["description"]) == (tenant["id"], "by slug")
    refused = send(
        api,
        "PATCH",
        TENANTS,
        text_of(["name", "description"], [tenant["name"], "x"], ["nobody has this", "y"]),
        status=400,
    ).json
    assert refused == [
        {},
        {"row": 3, "name": ["Related object not found using the provided attributes: {'name': 'nobody has this'}"]},
    ]
    refused = send(api, "PATCH", TENANTS, text_of(["description"], ["x"]), status=400).json
    assert refused == {"id": ["The table has neither a column id nor columns that identify the objects."]}
    case = Case(service, "dcim.interface")
    device = case.samples.make(service.registry["dcim.device"], name=service.unique())
    interface = case.make(device=device["id"])
    content = text_of(
        ["device.name", "name", "description"], [interface["device"]["name"], interface["name"], "uplink"]
    )
    assert send(api, "PATCH", case.path, content).json[0]["id"] == interface["id"]


def test_put_by_table_asks_for_what_is_required(api: Api, make: Any) -> None:
    site = make(SITES, status="active")
    assert send(api, "PUT", SITES, text_of(["id", "name"], [site["id"], "x"]), status=400).json == [
        {"row": 2, "status": ["This field is required."]}
    ]
    assert (
        send(api, "PUT", SITES, text_of(["id", "name", "status"], [site["id"], site["name"], "planned"])).json[0][
            "status"
        ]["value"]
        == "planned"
    )


def test_errors_name_row_and_column_and_nothing_is_written(api: Api, make: Any, unique: Any) -> None:
    name, tenant = unique(), make(TENANTS)
    content = text_of(["name", "slug", "group"], [name, name, ""], ["", "a b", ""], [tenant["name"], "", "nope"])
    first, second, third = send(api, "POST", TENANTS, content, status=400).json
    assert first == {}
    assert (second["row"], second["name"]) == (3, ["This field may not be blank."])
    assert "slug" in second
    assert third["row"] == 4
    assert third["group"] == ["Related object not found using the provided attributes: {'slug': 'nope'}"]
    assert api.get(TENANTS, {"name": name})["count"] == 0
    rows = [[tenant["id"], "ok"], [make(TENANTS)["id"], ""], [make(TENANTS)["id"], ""]]
    errors = send(api, "PATCH", TENANTS, text_of(["id", "name"], *rows), status=400).json
    assert [error.get("row") for error in errors] == [None, 3, 4]


def test_read_only_columns_are_ignored(api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    content = text_of(
        ["id", "display", "url", "created", "site_count", "description"], [tenant["id"], "x", "y", "z", "7", "new"]
    )
    assert send(api, "PATCH", TENANTS, content).json[0]["description"] == "new"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "The table is empty. Its first row names the columns."),
        (b"\r\n\r\n", "The table is empty. Its first row names the columns."),
        (b"name,slug,name\r\n", "The column 'name' is there twice."),
        (b"name,,slug\r\n", "Column 2 has no name."),
        (b"name,slug\r\na,b,c\r\n", "Row 2 has 3 cells, the first row has 2 columns."),
        (b"name,slug\r\na,b\r\nc\r\n", "Row 3 has 1 cells, the first row has 2 columns."),
        (b'name,slug\r\na,"b\r\n', "CSV parse error - row 2: unexpected end of data"),
        (b'name,slug\r\na,"b"c\r\n', "CSV parse error - row 2: ',' expected after '\"'"),
        ("name\r\nZürich\r\n".encode("latin-1"), "The file is not UTF-8: byte 8 cannot be decoded."),
        ("name\r\nx\r\n".encode("utf-16"), "The file is UTF-16. UTF-8 is expected."),
        (
            b",".join(b"c%d" % number for number in range(1001)),
            "The table has 1001 columns; at most 1000 are accepted.",
        ),
    ],
)
def test_a_malformed_table_is_refused_with_the_reason(api: Api, content: bytes, reason: str) -> None:
    assert send(api, "POST", TENANTS, content, status=400).json == {"detail": reason}


def test_unknown_columns_are_named(api: Api) -> None:
    refused = send(
        api,
        "POST",
        TENANTS,
        text_of(["name", "colour", "group.nothing", "cf_nothing"], ["a", "b", "c", "d"]),
        status=400,
    ).json
    assert sorted(refused) == ["cf_nothing", "colour", "group.nothing"]
    assert refused["colour"][0].startswith("There is no column of this name. Columns are: ")


def test_a_header_alone_is_an_empty_list(api: Api) -> None:
    assert send(api, "POST", TENANTS, b"name,slug\r\n").json == []
    assert send(api, "PATCH", TENANTS, b"id,name\r\n").json == []


def test_null_characters_are_refused(api: Api) -> None:
    assert send(api, "POST", TENANTS, b"name\r\na\x00b\r\n", status=400).json == [
        {"row": 2, "name": ["Null characters are not allowed."]}
    ]


def test_bad_keys_of_rows_are_refused(api: Api) -> None:
    content = "slug,description\na\x00b,x\n,x\n{},x\n".format("y" * 5000).encode()
    errors = send(api, "PATCH", TENANTS, content, status=400).json
    assert [(error["row"], *error) for error in errors] == [(2, "row", "slug"), (3, "row", "slug"), (4, "row", "slug")]
    assert send(api, "PATCH", TENANTS, b"id,name\n,x\nzz,x\n", status=400).json == [
        {"row": 2, "id": ["This field is required."]}, {"row": 3, "id": ["Must be a valid UUID."]},
    ]  # fmt: skip


def test_two_rows_cannot_be_about_one_object(api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    errors = send(api, "PATCH", TENANTS, text_of(["slug"], [tenant["slug"]], [tenant["slug"]]), status=400).json
    assert errors == [{}, {"row": 3, "id": ["This object is listed more than once."]}]


def test_columns_that_contradict_each_other_are_refused(api: Api) -> None:
    errors = send(
        api, "POST", "/api/dcim/devices/", text_of(["rack.site", "rack.site.slug"], ["a", "b"]), status=400
    ).json
    assert errors == {"rack.site": ["Another column names the same object by its attributes."]}


def test_limits_of_bodies_are_those_of_json(api: Api, configured: Any) -> None:
    with configured(max_bulk_objects=2):
        assert send(api, "POST", TENANTS, b"name\na\nb\nc\n", status=413).json == {
            "detail": "The table has more than 2 rows (netinv.max_bulk_objects)."
        }
        assert (
            "netinv.max_bulk_objects"
            in send(api, "POST", TENANTS, b"- {}\n- {}\n- {}\n", YAML, status=413).json["detail"]
        )
    with configured(max_json_values=5):
        assert (
            "netinv.max_json_values"
            in send(api, "POST", TENANTS, b"name,slug\na,a\nb,b\nc,c\n", status=413).json["detail"]
        )
        assert "netinv.max_json_values" in send(api, "POST", TENANTS, b"," * 100, status=413).json["detail"]
        assert len(send(api, "POST", TENANTS, b'name\n"a,,,,,,,,,,,,"\n').json) == 1
        assert (
            "netinv.max_json_values"
            in send(api, "POST", TENANTS, b"- [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]", YAML, status=413).json["detail"]
        )
    with configured(max_request_size=10):
        assert "netinv.max_request_size" in send(api, "POST", TENANTS, b"name\n0123456789\n", status=413).json["detail"]


def test_other_encodings_and_media_types_are_refused(api: Api, make: Any) -> None:
    assert send(api, "POST", TENANTS, b"name\n", "text/csv; charset=iso-8859-1", status=415)
    assert send(api, "POST", TENANTS, b"name\n", "text/csv; charset=UTF-8; header=present").json == []
    assert send(api, "POST", TENANTS, b"x", "application/vnd.ms-excel", status=415)
    assert send(api, "PATCH", f"{TENANTS}{make(TENANTS)['id']}/", b"name\nx\n", status=415)
    assert send(api, "DELETE", TENANTS, b"id\n", status=415)


def test_who_may_not_add_or_change_may_not_import(service: Service, make: Any) -> None:
    tenant, reader = make(TENANTS), service.user(("view", "tenancy.tenant")).api
    send(reader, "POST", TENANTS, b"name\nx\n", status=403)
    send(reader, "PATCH", TENANTS, text_of(["id", "name"], [tenant["id"], "x"]), status=403)
    blind = service.user(("change", "tenancy.tenant"), ("view", "tenancy.tenant", {"name": "other"})).api
    assert (
        "slug"
        in send(blind, "PATCH", TENANTS, text_of(["slug", "description"], [tenant["slug"], "x"]), status=400).json[0]
    )


# -- YAML


def test_yaml_creates_one_object_or_a_list_as_json_does(api: Api, unique: Any) -> None:
    name = unique()
    one = send(api, "POST", TENANTS, f"name: {name}\ndescription: no\ncomments: 12:30\n".encode(), YAML).json
    assert (one["name"], one["description"], one["comments"]) == (name, "no", "12:30")
    many = send(
        api, "POST", TENANTS, json.dumps([{"name": f"{name}b"}, {"name": f"{name}c"}]).encode(), "text/yaml"
    ).json
    assert [item["name"] for item in many] == [f"{name}b", f"{name}c"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"a: &x [1]\nb: *x\n", "line 2: aliases are not accepted"),
        (b"- !!python/object/apply:os.system ['x']\n", "line 1: tags are not accepted"),
        (b"- name: a\n  name: b\n", "line 2: the name 'name' is there twice"),
        (b"- {}\n---\n- {}\n", "line 2: one document is expected"),
        (b"? [a]\n: b\n", "line 1: a name is text"),
        (b"[" * 101 + b"]" * 101, "line 1: values are nested in more than 100 levels"),
        (b"- [\n", "line 2: did not find expected node content"),
    ],
)
def test_yaml_that_json_does_not_have_is_refused(api: Api, content: bytes, reason: str) -> None:
    assert send(api, "POST", TENANTS, content, YAML, status=400).json == {"detail": f"YAML parse error - {reason}"}


def test_an_alias_bomb_costs_nothing(api: Api) -> None:
    bomb = b"a: &a [x,x,x,x,x,x,x,x,x]\n" + b"".join(
        b"%c: &%c [%s]\n" % (c, c, b",".join([b"*%c" % (c - 1)] * 9)) for c in range(98, 110)
    )
    assert "aliases" in send(api, "POST", TENANTS, bomb, YAML, status=400).json["detail"]


def test_json_lists_stay_as_they_are(api: Api, make: Any) -> None:
    tenant = make(TENANTS)
    response = api.send("GET", TENANTS, query={"id": tenant["id"]}, headers={"Accept": "application/json"}, status=200)
    assert response.headers["API-Version"] == "1.2"
    assert orjson.loads(response.body)["count"] == 1


def test_refused_workbooks_leave_no_files(
    service: Service, make: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """The sheets of a workbook are files while it is written, also of one with a long cell or too many of them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sites = [make(SITES, status="active", comments=text) for text in ("x", "x" * 40000)]
    query = {"id": [site["id"] for site in sites], "format": "xlsx"}
    assert "at most 32,767 characters" in service.api.get(SITES, query, status=400)["detail"]
    with service.configured(max_answer_size=50):
        assert "netinv.max_answer_size" in service.api.get(SITES, query | {"id": sites[0]["id"]}, status=413)["detail"]
    service.api.send("GET", SITES, query=query | {"id": sites[0]["id"]}, status=200)
    assert not list(tmp_path.iterdir())
