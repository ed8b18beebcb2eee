"""The protocol that all paths share: pages, versions, redirects, errors, hosts."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from waitress.server import create_server

from netinv_core.http.versions import NEWEST
from netinv_testing import Api, Service

pytestmark = pytest.mark.any_database  # methods, headers and bodies

TENANTS = "/api/tenancy/tenants/"
SUPPORTED = "Supported versions are 1.2, 1.3, 1.4, 1.5, 1.6"


@pytest.fixture(scope="session")
def word(service: Service) -> str:
    """Prefix of the names of this module's seven tenants; ``q`` finds them by it."""
    word = service.unique()
    service.api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(7)])
    return word


def names(page: Any) -> list[str]:
    return [item["name"][-1] for item in page["results"]]


# -- pages


def test_a_page_links_to_its_neighbours_with_the_query_kept(api: Api, word: str) -> None:
    url = f"http://localhost{TENANTS}"
    first = api.get(TENANTS, {"q": word, "limit": 3, "brief": 1})
    assert (first["count"], first["previous"]) == (7, None)
    assert first["next"] == f"{url}?brief=1&limit=3&offset=3&q={word}"
    second = api.get(first["next"])
    assert (names(second), second["previous"]) == (["3", "4", "5"], f"{url}?brief=1&limit=3&q={word}")
    third = api.get(second["next"])
    assert (names(third), third["next"], third["previous"]) == (["6"], None, f"{url}?brief=1&limit=3&offset=3&q={word}")


def test_a_page_beyond_the_end_is_empty_and_leads_back(api: Api, word: str) -> None:
    page = api.get(TENANTS, {"q": word, "limit": 1, "offset": 99999})
    assert (page["count"], page["results"], page["next"]) == (7, [], None)
    assert page["previous"] == f"http://localhost{TENANTS}?limit=1&offset=99998&q={word}"


def test_repeated_and_accented_parameters_survive_in_links(api: Api, word: str) -> None:
    page = api.get(TENANTS, [("name", f"{word} 1"), ("name", f"{word} 2"), ("name", "é&="), ("limit", 1)])
    assert page["count"] == 2
    assert names(api.get(page["next"])) == ["2"]


NOT_A_NUMBER = "A valid integer is required."
TOO_SMALL = "Ensure this value is greater than or equal to 0."
TOO_LARGE = f"Ensure this value is less than or equal to {2**63 - 1}."
PAGED, FEED = (TENANTS, "/api/dcim/interface-connections/", "/api/extras/jobs/"), "/api/extras/object-changes/feed/"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *[(text, NOT_A_NUMBER) for text in ("abc", "1.5", "1e3", "1_0", "٣", "0x1", "--1")],
        *[(text, TOO_SMALL) for text in ("-1", "-99999999999999999999")],
        *[(text, TOO_LARGE) for text in (str(2**63), "9" * 5000)],
    ],
)
def test_a_wrong_limit_or_offset_is_refused_by_name(api: Api, text: str, message: str) -> None:
    assert api.get(FEED, {"limit": text}, status=400) == {"limit": [message]}
    for path in PAGED:
        assert api.get(path, {"limit": text}, status=400) == {"limit": [message]}
        assert api.get(path, {"offset": text, "limit": "zz"}, status=400) == {
            "limit": [NOT_A_NUMBER],
            "offset": [message],
        }


def test_a_blank_limit_and_offset_are_the_default(api: Api, word: str, configured: Any) -> None:
    with configured(paginate_count=4):
        assert len(api.get(TENANTS, {"q": word, "limit": "", "offset": ""})["results"]) == 4


def test_the_largest_limit_and_offset_are_taken(api: Api, word: str, configured: Any) -> None:
    with configured(max_page_size=0):
        assert len(api.get(TENANTS, {"q": word, "limit": 2**63 - 1})["results"]) == 7
        assert api.get(TENANTS, {"q": word, "limit": 2**63 - 1, "offset": 2**63 - 1})["results"] == []


# -- shapes


@pytest.mark.parametrize(("brief", "is_brief"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_brief_is_asked_for_and_declined(api: Api, word: str, brief: str, is_brief: bool) -> None:
    (found,) = api.get(TENANTS, {"name": f"{word} 1", "brief": brief})["results"]
    shown = api.get(f"{TENANTS}{found['id']}/", {"brief": brief})
    assert ("comments" not in found) is ("comments" not in shown) is is_brief


@pytest.mark.parametrize("brief", ["", "1"])
def test_include_and_exclude_name_fields_that_there_are(api: Api, word: str, brief: str) -> None:
    unknown = ["Select a valid choice. bogus is not one of the available choices."]
    (found,) = api.get(TENANTS, {"name": f"{word} 1", "include": ["computed_fields", "name", ""]})["results"]
    for path in (TENANTS, f"{TENANTS}{found['id']}/"):
        assert api.get(path, {"include": ["computed_fields", "bogus"], "brief": brief}, status=400) == {
            "include": unknown
        }
    for path in ("/api/dcim/devices/", "/api/virtualization/virtual-machines/"):
        assert api.get(path, {"exclude": "bogus", "brief": brief}, status=400) == {"exclude": unknown}
        api.get(path, {"exclude": "config_context", "brief": brief})


def test_include_of_what_only_other_resources_add_changes_nothing(api: Api) -> None:
    """Clients of version 1 send one parameter to all resources."""
    shown = api.get("/api/users/users/", {"limit": 1})
    for name in ("relationships", "computed_fields"):
        assert api.get("/api/users/users/", {"limit": 1, "include": name})["results"] == shown["results"]


def test_unknown_names_of_include_are_ignored_unless_filtering_is_strict(service: Service, api: Api) -> None:
    with service.configured(strict_filtering=False):
        api.get("/api/users/users/", {"include": "bogus"})


def test_parameters_of_lists_are_refused_where_they_mean_nothing(service: Service, api: Api, word: str) -> None:
    """By writes and actions too; parameters that an action has are taken."""
    unknown = ["Unknown filter field"]
    site = api.post("/api/dcim/sites/", {"name": service.unique(), "status": "active"})
    rack = api.post("/api/dcim/racks/", {"name": word, "site": site["id"], "status": "active"})
    prefix = api.post("/api/ipam/prefixes/", {"prefix": f"{service.unique.ipv6()}::/120", "status": "active"})
    (found,) = api.get(TENANTS, {"name": f"{word} 1"})["results"]
    tenant, elevation = f"{TENANTS}{found['id']}/", f"{rack['url']}elevation/"
    free, parts = f"{prefix['url']}available-ips/", f"{prefix['url']}available-prefixes/"
    refused: list[tuple[str, str, Any, Any]] = [
        ("GET", tenant, None, {"limit": 1}),
        ("GET", tenant, None, {"offset": 1}),
        ("PATCH", tenant, {}, {"ordering": "name"}),
        ("PUT", tenant, {"name": found["name"]}, {"fields": "name"}),
        ("GET", elevation, None, {"include": "relationships"}),
        ("GET", elevation, None, {"cursor": ""}),
        ("GET", elevation, None, {"render": "svg", "limit": 1}),
        ("GET", free, None, {"offset": 1}),
        ("GET", parts, None, {"limit": 1}),
        ("POST", parts, {"prefix_length": 124, "status": "active"}, {"fields": "id"}),
        ("GET", f"{tenant}notes/", None, {"ordering": "created"}),
        ("GET", FEED, None, {"offset": 1}),
    ]
    for method, path, body, query in refused:
        answer = api.send(method, path, body, query=query, status=400).json
        assert answer == {name: unknown for name in query if name != "render"}, (method, path, query)
    for method, path, query in [
        ("GET", elevation, {"limit": 1, "offset": 1}),
        ("GET", free, {"limit": 2}),
        ("GET", f"{tenant}notes/", {"include": "etag", "limit": 1, "offset": 0}),
        ("PATCH", tenant, {"include": "etag"}),
    ]:
        api.send(method, path, {} if method == "PATCH" else None, query=query, status=200)
    assert "include" in api.patch(tenant, {}, query={"include": "bogus"}, status=400)
    with service.configured(strict_filtering=False):
        api.get(free, {"offset": 1})


def test_two_limits_are_refused(api: Api, word: str) -> None:
    assert list(api.get(TENANTS, [("q", word), ("limit", 2), ("limit", 3)], status=400)) == ["limit"]
    assert len(api.get(TENANTS, [("q", word), ("limit", 3), ("limit", 3)])["results"]) == 3


@pytest.mark.parametrize("limit", [0, 6, 5000])
def test_no_page_is_longer_than_max_page_size(api: Api, word: str, configured: Any, limit: int) -> None:
    with configured(max_page_size=5):
        page = api.get(TENANTS, {"q": word, "limit": limit})
    assert len(page["results"]) == 5
    assert page["next"] == f"http://localhost{TENANTS}?limit=5&offset=5&q={word}"


@pytest.mark.parametrize("unlimited", [0, None])
def test_without_a_maximum_limit_zero_gives_everything(
    api: Api, word: str, configured: Any, unlimited: int | None
) -> None:
    with configured(max_page_size=unlimited, paginate_count=2):
        page = api.get(TENANTS, {"q": word, "limit": 0})
        assert (len(page["results"]), page["next"], page["previous"]) == (7, None, None)
        assert len(api.get(TENANTS, {"q": word, "limit": 6})["results"]) == 6
        assert len(api.get(TENANTS, {"q": word})["results"]) == 2


def test_a_default_page_is_not_longer_than_the_maximum(api: Api, word: str, configured: Any) -> None:
    with configured(max_page_size=3, paginate_count=5):
        assert len(api.get(TENANTS, {"q": word})["results"]) == 3


# -- unknown parameters


def test_unknown_parameters_are_named_or_ignored(api: Api, word: str, configured: Any) -> None:
    assert api.get(TENANTS, {"no": 1, "name__zz": 2}, status=400) == {
        "no": ["Unknown filter field"],
        "name__zz": ["Unknown filter field"],
    }
    with configured(strict_filtering=False):
        assert api.get(TENANTS, {"q": word, "no": 1, "name__zz": 2})["count"] == 7
        api.get(TENANTS, {"id": "zz"}, status=400)


def test_a_detail_is_filtered_like_a_list(api: Api, word: str) -> None:
    (found,) = api.get(TENANTS, {"name": f"{word} 1"})["results"]
    path = f"{TENANTS}{found['id']}/"
    assert api.get(path, {"name": f"{word} 1"})["id"] == found["id"]
    assert api.get(path, {"name": "zz"}, status=404) == {"detail": "Not found."}
    assert api.get(path, {"no": 1}, status=400) == {"no": ["Unknown filter field"]}


# -- versions


def test_no_version_means_1_2(api: Api) -> None:
    assert api.send("GET", TENANTS, version=None, status=200).headers["API-Version"] == "1.2"
    assert api.send("GET", "/api/", version=None, status=200).headers["API-Version"] == "1.2"


@pytest.mark.parametrize("version", ["1.2", "1.3", "1.4", "1.5", "1.6"])
def test_a_version_is_asked_for_by_header_or_parameter(api: Api, version: str) -> None:
    for query, header in (({}, version), ({"api_version": version}, None), ({"api_version": version}, version)):
        assert api.send("GET", TENANTS, query=query, version=header, status=200).headers["API-Version"] == version


@pytest.mark.parametrize("version", ["9.9", "2.0", "1.1", "1", "", "zz", "1.6.0"])
def test_an_unknown_version_is_refused(api: Api, version: str) -> None:
    asked = api.get(TENANTS, {"api_version": version}, version=None, status=404)
    assert asked == {"detail": f"Invalid version in query parameter. {SUPPORTED}"}
    if version:
        assert api.get(TENANTS, version=version, status=406) == {
            "detail": f'Invalid version in "Accept" header. {SUPPORTED}'
        }


def test_two_versions_at_once_are_refused(api: Api) -> None:
    mismatch = {"detail": 'Version mismatch between "Accept" header and query parameter.'}
    assert api.get(TENANTS, {"api_version": "1.3"}, version="1.6", status=400) == mismatch


def test_errors_say_their_version(api: Api) -> None:
    response = api.send("GET", f"{TENANTS}00000000-0000-0000-0000-000000000000/", version="1.5", status=404)
    assert response.headers["API-Version"] == "1.5"


# -- media types


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "application/*",
        "application/json",
        "text/plain, application/json;q=0.5",
        "application/json;q=zz",
    ],
)
def test_json_is_the_usual_answer(api: Api, accept: str | None) -> None:
    headers = {} if accept is None else {"Accept": accept}
    assert api.send("GET", TENANTS, version=None, headers=headers, status=200).content_type == "application/json"


def test_a_browser_gets_a_page(api: Api) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    response = api.send("GET", TENANTS, version=None, headers=browser, status=200)
    assert response.content_type == "text/html"
    assert (
        api.send("GET", TENANTS, query={"format": "json"}, version=None, headers=browser, status=200).content_type
        == "application/json"
    )


def test_names_in_a_page_are_escaped(api: Api, unique: Any) -> None:
    word = unique()
    api.post(TENANTS, {"name": word, "description": "<script>alert(1)</script>"})
    page = api.send("GET", TENANTS, query={"name": word}, version=None, headers={"Accept": "text/html"}, status=200)
    assert "<script>alert" not in page.text and "&lt;script&gt;" in page.text


@pytest.mark.parametrize(
    ("query", "accept", "status"),
    [
        ({}, "application/xml", 406),
        ({}, "text/plain", 406),
        ({"format": "api"}, "*/*", 406),
        ({"format": "xml"}, "*/*", 404),
    ],
)
def test_other_media_types_are_refused(api: Api, query: Any, accept: str, status: int) -> None:
    detail = "Could not satisfy the request Accept header." if status == 406 else "Not found."
    assert api.get(TENANTS, query, version=None, headers={"Accept": accept}, status=status) == {"detail": detail}


@pytest.mark.parametrize(
    "given", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_body_must_be_said_to_be_json(api: Api, method: str, given: str) -> None:
    found = api.send(method, TENANTS, b"name=x", headers={"Content-Type": given}, status=415).json
    assert found == {"detail": f'Unsupported media type "{given}" in request.'}


def test_json_with_a_charset_is_json(api: Api) -> None:
    refused = api.post(TENANTS, b"{}", headers={"Content-Type": "application/json; charset=utf-8"}, status=400)
    assert refused == {"name": ["This field is required."]}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"name": ', "Expecting value: line 1 column 10 (char 9)"),
        (b'{"name":"\xff"}', "'utf-8' codec can't decode byte 0xff in position 9: invalid start byte"),
        (b'{"name": NaN}', "Out of range float values are not JSON compliant: NaN"),
        (b'{"name": Infinity}', "Out of range float values are not JSON compliant: Infinity"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(api: Api, body: bytes, reason: str) -> None:
    assert api.post(TENANTS, body, status=400) == {"detail": f"JSON parse error - {reason}"}


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'"\xed\xa0\x80"',
        b"1" * 10_000,
        b'{"name": "\\ud800"}',
        b"\x00",
        b"\xef\xbb\xbf{}",
    ],
)
def test_hostile_json_is_refused_not_failed_at(api: Api, body: bytes) -> None:
    api.post(TENANTS, body, status=400)


def test_no_body_is_an_empty_object(api: Api) -> None:
    assert api.post(TENANTS, b"", status=400) == {"name": ["This field is required."]}


def test_the_last_of_two_equal_names_counts(api: Api, unique: Any) -> None:
    first, last = unique(), unique()
    assert api.post(TENANTS, f'{{"name": "{first}", "name": "{last}"}}'.encode())["name"] == last


# -- paths and methods


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "path",
    ["/api", "/api/tenancy", "/api/tenancy/tenants", "/api/tenancy/tenants/x", "/api/status", "/api/users/config"],
)
def test_a_missing_slash_is_a_redirect_that_keeps_the_query(anonymous: Api, method: str, path: str) -> None:
    response = anonymous.send(method, f"{path}?limit=1&a=%C3%A9", b"{}", status=302)
    assert response.headers["Location"].removeprefix("http://localhost") == f"{path}/?limit=1&a=%C3%A9"


UNKNOWN = [
    "/api/nosuch/",
    "/api/nosuch",
    "/api/tenancy/nosuch/",
    "/api/tenancy/nosuch",
    "/api/tenancy/tenants/1/nosuch/",
    "/nosuch",
]


@pytest.mark.parametrize("path", [*UNKNOWN, "/api/%FF/", "/api/tenancy/%00/"])
def test_unknown_paths_are_404_for_everyone(api: Api, anonymous: Api, path: str) -> None:
    assert api.get(path, status=404) == anonymous.get(path, status=404) == {"detail": "Not found."}


def test_a_method_that_a_path_does_not_have_is_405(api: Api, word: str) -> None:
    (found,) = api.get(TENANTS, {"name": f"{word} 1"})["results"]
    response = api.send("POST", f"{TENANTS}{found['id']}/", {"a": 1}, status=405)
    assert response.json == {"detail": 'Method "POST" not allowed.'}
    assert response.headers["Allow"] == "GET, PUT, PATCH, DELETE, HEAD, OPTIONS"
    response = api.send("POST", "/api/extras/object-changes/", {"a": 1}, status=405)
    assert (response.json, response.headers["Allow"]) == (
        {"detail": 'Method "POST" not allowed.'},
        "GET, HEAD, OPTIONS",
    )
    for path in ("/api/", "/api/tenancy/", "/api/status/", "/api/plugins/"):
        assert api.send("POST", path, {}, status=405).json == {"detail": 'Method "POST" not allowed.'}


def test_answers_say_which_methods_there_are(api: Api) -> None:
    for method in ("GET", "OPTIONS", "HEAD"):
        response = api.send(method, TENANTS, status=200)
        assert response.headers["Allow"] == "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"
        assert "Accept" in response.headers["Vary"]


# -- roots


def test_roots_lead_to_every_resource(api: Api, service: Service) -> None:
    root = api.get("/api/")
    assert {"tenancy", "extras", "users", "plugins", "status"} <= set(root)
    assert root == {name: f"http://localhost/api/{name}/" for name in sorted(root)}
    for name in {name for name, app in service.registry.apps.items() if app.rooted} & set(root):
        found = api.get(root[name])
        assert list(found) == sorted(found)
        for url in found.values():
            api.options(url)


def test_options_follow_the_statuses_and_read_none_again(api: Api, unique: Any, statements: Any) -> None:
    def choices() -> list[str]:
        return [item["value"] for item in api.options("/api/dcim/sites/")["actions"]["POST"]["status"]["choices"]]

    slug, before = unique(), choices()
    status = api.post("/api/extras/statuses/", {"name": slug, "slug": slug, "content_types": ["dcim.site"]})
    assert sorted(choices()) == sorted([*before, slug])
    with statements() as found:
        choices()
    assert len(found) <= 2 and "extras_status" not in "\n".join(found), "\n".join(found)
    api.delete(status["url"])
    assert choices() == before


def test_options_of_a_root_describe_it(api: Api) -> None:
    found = api.options("/api/")
    assert found["name"] == "API Root" and set(found) == {"name", "description", "renders", "parses"}


def test_status_tells_versions(api: Api) -> None:
    found = api.get("/api/status/")
    assert {"netinv-version", "python-version", "installed-apps", "plugins", "broken-packages"} <= set(found)
    assert "tenancy" in found["installed-apps"]


def test_status_tells_clients_of_the_reference_what_they_check(api: Api) -> None:
    """Clients made for it compare ``nautobot-version`` with what they need: the release whose API is spoken."""
    found = api.get("/api/status/", version=None)
    assert found["nautobot-version"].startswith(f"{NEWEST}.")
    assert tuple(map(int, found["django-version"].split(".")))[:2] == (3, 2)


@pytest.mark.parametrize(
    "path",
    [
        "/api/",
        "/api/tenancy/",
        "/api/status/",
        "/api/plugins/",
        "/api/plugins/installed-plugins/",
        "/api/users/config/",
    ],
)
def test_roots_need_credentials_but_no_permission(anonymous: Api, make_user: Any, path: str) -> None:
    assert anonymous.get(path, status=403) == {"detail": "Authentication credentials were not provided."}
    make_user().api.get(path)


def test_preferences_are_merged_key_by_key(make_user: Any) -> None:
    mine, path = make_user().api, "/api/users/config/"
    assert mine.get(path) == {}
    assert mine.patch(path, {"tables": {"x": 1, "y": {"z": 2}}}) == {"tables": {"x": 1, "y": {"z": 2}}}
    assert mine.patch(path, {"tables": {"y": {"w": 3}}, "a": None}) == {
        "tables": {"x": 1, "y": {"z": 2, "w": 3}},
        "a": None,
    }
    assert mine.get(path) == {"tables": {"x": 1, "y": {"z": 2, "w": 3}}, "a": None}
    mine.patch(path, [1], status=400)
    assert make_user().api.get(path) == {}


def test_preferences_are_bounded(make_user: Any, configured: Any) -> None:
    mine, path = make_user().api, "/api/users/config/"
    deep: Any = {}
    for _ in range(40):
        deep = {"x": deep}
    for body, name in (
        ({"a": deep}, "a"),
        ({"b": [[[[]]]], "c": [deep]}, "c"),
        ({"d": "x\x00"}, "d"),
        ({"e\x00": 1}, "e\x00"),
    ):
        assert list(mine.patch(path, body, status=400)) == [name]
    with configured(max_user_config_size=100):
        assert mine.patch(path, {"a": "x" * 50}) == {"a": "x" * 50}
        for body in ({"b": "x" * 50}, {"a": {str(number): number for number in range(30)}}):
            (words,) = mine.patch(path, body, status=400)["non_field_errors"]
            assert "at most 100 bytes" in words
        assert mine.get(path) == {"a": "x" * 50}
        assert mine.patch(path, {"a": 1, "b": 2}) == {"a": 1, "b": 2}


def test_preferences_need_a_token_that_writes(make_user: Any) -> None:
    reader, path = make_user(write_enabled=False).api, "/api/users/config/"
    assert reader.patch(path, {"a": 1}, status=403) == {"detail": "You do not have permission to perform this action."}
    assert reader.get(path) == {}


# -- hosts and proxies

FORWARDED = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "inventory.example",
    "X-Forwarded-For": "192.0.2.7",
    "Forwarded": "proto=https;host=inventory.example",
}


def test_urls_carry_the_host_that_was_asked(api: Api, word: str) -> None:
    page = api.get(TENANTS, {"q": word, "limit": 1}, headers={"Host": "netinv.example:8443"})
    assert page["next"].startswith(f"http://netinv.example:8443{TENANTS}?")
    assert page["results"][0]["url"].startswith(f"http://netinv.example:8443{TENANTS}")


def test_forwarded_headers_alone_change_nothing(api: Api, word: str) -> None:
    assert api.get(TENANTS, {"q": word, "limit": 1}, headers=FORWARDED)["next"].startswith(f"http://localhost{TENANTS}")


def test_a_configured_base_url_stands_for_the_host(api: Api, word: str, configured: Any) -> None:
    with configured(base_url="https://inventory.example"):
        page = api.get(TENANTS, {"q": word, "limit": 1}, headers={"Host": "zz"})
    assert page["next"].startswith(f"https://inventory.example{TENANTS}?")


@pytest.fixture
def behind_proxy(service: Service) -> Iterator[Any]:
    """``behind_proxy(**waitress settings)``: the port of a real server."""
    servers = []

    def serve(**settings: Any) -> int:
        server = create_server(service.app, host="127.0.0.1", port=0, threads=1, **settings)
        threading.Thread(target=server.run, daemon=True).start()
        servers.append(server)
        return int(server.effective_port)

    yield serve
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "http://127.0.0.1:"),
        (
            {"trusted_proxy": "127.0.0.1", "trusted_proxy_headers": "x-forwarded-proto x-forwarded-host"},
            "https://inventory.example/",
        ),
        (
            {"trusted_proxy": "192.0.2.1", "trusted_proxy_headers": "x-forwarded-proto x-forwarded-host"},
            "http://127.0.0.1:",
        ),
    ],
)
def test_a_trusted_proxy_is_believed(service: Service, behind_proxy: Any, settings: Any, expected: str) -> None:
    port = behind_proxy(**settings)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    forwarded = {name: value for name, value in FORWARDED.items() if name != "Forwarded"}
    connection.request("GET", "/api/", headers={"Authorization": f"Token {service.admin.token}", **forwarded})
    response = connection.getresponse()
    assert response.status == 200
    assert f'"status":"{expected}' in response.read().decode()
    connection.close()
