"""Limits of requests: bodies, lists, JSON values and levels, queries, paths, headers, methods and hosts; each is
refused before it costs anything.
"""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

import pytest
import webtest

from netinv_core.errors import MAX_FAULTY, MAX_MESSAGES, MAX_TEXT
from netinv_core.http.pipeline import MAX_HEADER_LENGTH, MAX_PATH_LENGTH, MAX_QUERY_LENGTH, PARSED
from netinv_core.http.serialization import MAX_PARAMETERS
from netinv_core.json_values import MAX_LEVELS
from netinv_testing import Api, Service
from netinv_testing.hangs import no_hang

TENANTS = "/api/tenancy/tenants/"
GRAPHQL = "/api/graphql/"
CONFIG = "/api/users/config/"
STYLES = "/api/docs/assets/swagger-ui.css"


def raw(
    service: Service,
    method: str,
    path: str,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    **environ: Any,
) -> Any:
    """The answer to a request whose path, method and headers no client library has mended."""
    request = webtest.TestRequest.blank("/")
    given = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in (headers or {}).items()}
    request.environ.update(
        {"REQUEST_METHOD": method, "PATH_INFO": path, "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
    )
    request.environ.update({**given, **environ})
    return request.get_response(service.app)


# -- bodies


BODIES = [
    ("POST", TENANTS),
    ("PATCH", TENANTS),
    ("PUT", TENANTS),
    ("DELETE", TENANTS),
    ("POST", GRAPHQL),
    ("PATCH", CONFIG),
]


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_a_body_that_is_too_long_is_refused_with_the_name_of_the_setting(
    api: Api, configured: Any, method: str, path: str
) -> None:
    with configured(max_request_size=1000):
        refused = api.send(method, path, b'{"name": "' + b"x" * 1000 + b'"}', status=413).json
    assert refused == {"detail": "The request body has 1012 bytes; at most 1000 are taken (netinv.max_request_size)."}


def test_no_more_of_a_body_is_read_than_may_be_there(service: Service, configured: Any) -> None:
    class Endless(io.RawIOBase):
        taken = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            self.taken += len(buffer)
            return len(buffer)

    body, headers = Endless(), {"Authorization": f"Token {service.admin.token}"}
    more = {"wsgi.input": body, "wsgi.input_terminated": True, "CONTENT_LENGTH": "", "CONTENT_TYPE": "application/json"}
    with configured(max_request_size=1000):
        answer = raw(service, "POST", TENANTS, headers, **more)
    assert (answer.status_int, answer.json) == (
        413,
        {"detail": "The request body has more than 1000 bytes (netinv.max_request_size)."},
    )
    assert body.taken < 100_000


def test_who_gives_no_credentials_may_send_little(service: Service, anonymous: Api, configured: Any) -> None:
    with configured(max_anonymous_request_size=100):
        refused = anonymous.post(TENANTS, b" " * 101, status=413)
        assert refused == {
            "detail": "The request body has 101 bytes; without credentials at most 100 are taken (netinv.max_anonymous_request_size)."
        }
        anonymous.post(TENANTS, b" " * 100, status=403)


@pytest.mark.parametrize("header", ["Token 0123456789abcdef0123456789abcdef01234567", "Token", "Bearer x"])
def test_a_body_is_not_read_before_the_credentials_are_checked(service: Service, header: str) -> None:
    class Unread(io.BytesIO):
        def read(self, *_: Any) -> bytes:
            raise AssertionError("the body was read")

    length = str(2 * 2**20)  # what is shorter is kept for another attempt
    answer = raw(
        service, "POST", TENANTS, {"Authorization": header}, **{"wsgi.input": Unread(), "CONTENT_LENGTH": length}
    )
    assert answer.status_int == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_list_has_no_more_objects_than_the_setting_says(api: Api, configured: Any, method: str) -> None:
    with configured(max_bulk_objects=3):
        refused = api.send(method, TENANTS, [{}] * 4, status=413).json
        assert refused == {"detail": "The list has 4 items; at most 3 are taken at once (netinv.max_bulk_objects)."}
        assert len(api.post(TENANTS, [{}] * 3, status=400)) == 3


SIX_VALUES = [
    b"[[],[],[],[],[],[]]",
    b'{"a": [1, 2, 3, 4, 5]}',
    b'{"a": {"b": {"c": {"d": {"e": 1}}}}}',
    b'[{"a": 1}, {"a": 2}, {"a": 3}]',
]


@pytest.mark.parametrize("body", SIX_VALUES)
def test_a_body_has_no_more_json_values_than_the_setting_says(api: Api, configured: Any, body: bytes) -> None:
    with configured(max_json_values=5):
        for path in (TENANTS, GRAPHQL):
            assert api.post(path, body, status=413) == {
                "detail": "The request body holds more than 5 JSON values (netinv.max_json_values)."
            }


def test_commas_and_brackets_within_strings_are_no_values(api: Api, unique: Any, configured: Any) -> None:
    text = 'a,b[c{d"e\\f,' * 10
    with configured(max_json_values=5):
        assert api.post(TENANTS, {"name": unique(), "description": text, "comments": ""})["description"] == text
        api.post(TENANTS, b'{"name": "' + b'\\"[,' * 100, status=400)
        api.post(TENANTS, b'{"name": "' + b"[," * 100 + b"\\", status=400)


def test_what_took_a_gigabyte_is_refused_by_its_text(api: Api) -> None:
    with no_hang():
        api.post(TENANTS, b"[" + b"[]," * 1_000_000 + b"[]]", status=413)
        api.post(TENANTS, b'{"name": "' + b'\\"' * 10_000_000, status=400)


def test_values_nest_no_deeper_than_can_be_followed(api: Api, configured: Any) -> None:
    for opened, closed in ((b"[", b"]"), (b'{"a":', b"}")):
        deep = opened * MAX_LEVELS + b"1" + closed * MAX_LEVELS
        api.post(TENANTS, b'{"name": ' + deep + b"}", status=400)
        refused = api.post(TENANTS, b'{"name": "x", "tags": ' + deep + b"}", status=400)
        assert refused == {"detail": f"JSON parse error - values are nested in more than {MAX_LEVELS} levels"}


def test_a_list_of_references_is_bounded(api: Api, unique: Any) -> None:
    assert api.post(TENANTS, {"name": unique(), "tags": [1] * 10_001}, status=400) == {
        "tags": ["The list has 10001 items; at most 10000 are taken."]
    }


LONG = 2_000_000
TEXTS = [("/api/users/users/", "email", "a@" + "a." * LONG), ("/api/dcim/sites/", "contact_email", "a@" + "a." * LONG)]
TEXTS += [("/api/dcim/sites/", "slug", "a-" * LONG), ("/api/extras/webhooks/", "payload_url", "http://" + "a." * LONG)]
TEXTS += [("/api/ipam/prefixes/", "prefix", "1." * LONG), ("/api/dcim/interfaces/", "mac_address", "a:" * LONG)]


@pytest.mark.parametrize(("path", "field", "text"), TEXTS, ids=[f"{path}{field}" for path, field, _ in TEXTS])
def test_a_long_text_is_refused_without_the_memory_to_match_it(api: Api, path: str, field: str, text: str) -> None:
    body = f'{{"{field}": "{text}"}}'.encode()
    tracemalloc.start()
    try:
        assert field in api.post(path, body, status=400)
        assert tracemalloc.get_traced_memory()[1] < 20 * len(body)
    finally:
        tracemalloc.stop()


# -- answers


def test_the_errors_of_a_long_list_are_cut_and_counted(api: Api, unique: Any) -> None:
    bodies = [{"name": unique()}, *[{} for _ in range(MAX_FAULTY + 50)]]
    refused = api.post(TENANTS, bodies, status=400)
    assert (
        len(refused) == MAX_FAULTY + 2
        and refused[0] == {}
        and refused[MAX_FAULTY] == {"name": ["This field is required."]}
    )
    assert refused[-1] == {
        "non_field_errors": [f"50 more of the {len(bodies)} objects have errors, which are not listed."]
    }


def test_a_fault_late_in_a_long_list_stays_at_its_place(api: Api, unique: Any) -> None:
    refused = api.post(TENANTS, [*[{"name": unique()} for _ in range(MAX_MESSAGES + 200)], {}], status=400)
    assert refused == [{}] * (MAX_MESSAGES + 200) + [{"name": ["This field is required."]}]


def test_an_error_repeats_little_of_what_was_sent(api: Api, unique: Any) -> None:
    long = "x" * 50_000
    assert (
        len(api.send("POST", TENANTS, {"name": unique(), "tags": [long], "group": {long: 1}}, status=400).body)
        < 4 * MAX_TEXT
    )
    assert api.get(TENANTS, {long: 1}, status=400) == {
        f"{long[:MAX_TEXT]}… ({50_000 - MAX_TEXT} more characters)": ["Unknown filter field"]
    }
    refused = api.get(TENANTS, [(f"no{n}", 1) for n in range(MAX_MESSAGES + 500)], status=400)
    assert len(refused) == MAX_MESSAGES


# -- queries and paths


def test_a_query_is_bounded(api: Api, anonymous: Api) -> None:
    for client in (api, anonymous):
        told = client.get(TENANTS, {"q": "x" * MAX_QUERY_LENGTH}, status=414)
        assert told == {"detail": f"The query has more than {MAX_QUERY_LENGTH} characters."}
    told = api.get(f"{TENANTS}?{'q&' * (MAX_PARAMETERS + 1)}", status=400)
    assert told == {"detail": f"The query has more than {MAX_PARAMETERS} parameters."}
    assert api.get(TENANTS, [("name", f"no {n}") for n in range(MAX_PARAMETERS)])["count"] == 0


ROOTS = [TENANTS, "/api/dcim/", "/api/", "/media/", "/media/images/", "/api/docs/assets/", "/api/plugins/", "/"]
DOTS = ["..", ".", "../racks", "x/..", "./x", "../../../etc/passwd"]


@pytest.mark.parametrize(
    "segment", [*DOTS, "@@", "@@x", "%2e%2e", "%2E.", "..%2f", "%2e", "x%00", "%0a", "%7f", "a%0d%0ab"]
)
@pytest.mark.parametrize("place", ROOTS)
def test_paths_that_lead_elsewhere_or_hold_control_characters_are_404(
    service: Service, place: str, segment: str
) -> None:
    text = unquote(segment)
    for path in (f"{place}{text}", f"{place}{text}/"):
        for headers in ({}, {"Authorization": f"Token {service.admin.token}"}):
            for method in ("GET", "POST"):
                answer = raw(service, method, path, headers)
                assert (answer.status_int, answer.json) == (404, {"detail": "Not found."}), (method, path)


ODD = [";", "x;y=z", "a%b", "++x++y", "é", "\xff", "\xc3\x28", "//", "/%2f/", "*", "x" * 2000]
ODD += ["'\"<script>", "{id}", "\u2028", "C:\\x", "~", "?", "#"]


@pytest.mark.parametrize("segment", ODD)
@pytest.mark.parametrize("place", ROOTS)
def test_odd_paths_are_never_failed_at(service: Service, place: str, segment: str) -> None:
    text = segment if segment.isascii() else segment.encode().decode("latin-1")
    for path in (
        f"{place}{text}",
        f"{place}{text}/",
        f"{place}{text}/x/",
        f"{place}{segment.encode('latin-1', 'ignore').decode('latin-1')}/",
    ):
        for headers in ({}, {"Authorization": f"Token {service.admin.token}"}):
            for method in ("GET", "PATCH"):
                assert raw(service, method, path, headers).status_int < 500, (method, path)


def test_a_path_is_bounded(anonymous: Api) -> None:
    assert anonymous.get(f"{TENANTS}{'x' * MAX_PATH_LENGTH}/", status=414) == {
        "detail": f"The path has more than {MAX_PATH_LENGTH} characters."
    }


# -- methods


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "get", "", "X" * 5000, "GET "])
@pytest.mark.parametrize(
    "path",
    ["/", "/api/", TENANTS, f"{TENANTS}x/", CONFIG, GRAPHQL, "/metrics", "/media/a/b", "/api/docs/", STYLES, "*"],
)
def test_other_methods_are_405_everywhere(service: Service, method: str, path: str) -> None:
    answer = raw(service, method, path, {"Authorization": f"Token {service.admin.token}"})
    assert answer.status_int == 405 and answer.headers["Allow"] == "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"
    assert len(answer.body) < 100


@pytest.mark.parametrize(
    "header",
    ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Vhm-Root", "X-Original-Url", "X-Rewrite-Url"],
)
def test_headers_change_neither_method_nor_path(service: Service, api: Api, unique: Any, header: str) -> None:
    made = api.post(TENANTS, {"name": unique()})
    for value in ("DELETE", "/api/dcim", "/dcim/sites/x", "/../..", "\xff"):
        answer = api.send("GET", made["url"], headers={header: value}, status=200)
        assert answer.json["id"] == made["id"]


@pytest.mark.night
def test_head_answers_as_get_does_without_a_body(api: Api) -> None:
    for path in (
        "/api/",
        TENANTS,
        CONFIG,
        "/api/status/",
        "/metrics",
        "/api/swagger.json",
        "/api/docs/",
        "/api/docs/assets/swagger-ui.css",
    ):
        assert api.send("HEAD", path, status=200).body == b""


# -- headers


@pytest.mark.parametrize("name", [*PARSED, "CONTENT_TYPE"])
def test_a_header_that_is_parsed_is_bounded(service: Service, name: str) -> None:
    environ = {name if name == "CONTENT_TYPE" else f"HTTP_{name}": "a" * (MAX_HEADER_LENGTH + 1)}
    answer = raw(service, "GET", TENANTS, **environ)
    assert answer.status_int == 431
    assert answer.json == {
        "detail": f"The header {name.title().replace('_', '-')} has more than {MAX_HEADER_LENGTH} characters."
    }


REPEATED = [
    "a;b{}c=d", ";{}version=1", "{}", "a{}/b", ",{}", 'a;b="{}', "token {}", "basic {}", "multipart/form-data{}; boundary=x", "bytes=0-{}",
    'W/"{}', '"{}"', "application/json;q={}", "application/json; version={}", "gzip;q=0.{}", "{}=", "multipart/form-data; boundary={}",
]  # fmt: skip
UNITS = [" ", ";", ",", '"', '\\"', ";a=", ';"', ",a;q=0.5", "a", "1-2,", "0"]
PLACES = {"CONTENT_TYPE": ("POST", "/api/dcim/device-types/"), "AUTHORIZATION": ("GET", "/api/users/tokens/")}
PLACES |= dict.fromkeys(("ACCEPT", "HOST"), ("GET", "/api/"))


@pytest.mark.parametrize("name", [*PARSED, "CONTENT_TYPE"])
def test_no_header_takes_long_to_parse(service: Service, name: str) -> None:
    """Every header is bounded, so the square of its length is, too: 187 long values of each take a few seconds of
    processor time at most.
    """
    key = name if name == "CONTENT_TYPE" else f"HTTP_{name}"
    method, path = PLACES.get(name, ("GET", "/api/docs/assets/favicon-32x32.png"))
    for shape in REPEATED:
        for unit in UNITS:
            value = shape.format(unit * (MAX_HEADER_LENGTH // len(unit)))[:MAX_HEADER_LENGTH]
            environ = {
                "HTTP_AUTHORIZATION": f"Token {service.admin.token}",
                "CONTENT_TYPE": "application/json",
                key: value,
            }
            with no_hang(value):
                answer = raw(service, method, path, None, b"x" if method == "POST" else b"", **environ)
            assert answer.status_int < 500, value[:50]
    for value in (shape.format(unit * 2000)[:MAX_HEADER_LENGTH] for shape in REPEATED[:4] for unit in UNITS[:3]):
        with no_hang(value):
            assert raw(service, "GET", "/api/swagger.json", **{key: value}).status_int < 500, value[:50]


def test_parts_of_forms_have_short_headers(api: Api) -> None:
    head = b'Content-Disposition: form-data; name="x"' + b";" * 10_000
    body = b"--b\r\n" + head + b"\r\n\r\nx\r\n--b--\r\n"
    refused = api.post(
        "/api/dcim/device-types/", body, headers={"Content-Type": "multipart/form-data; boundary=b"}, status=400
    )
    assert refused == {"detail": "Multipart form parse error - A part has a header of more than 4096 bytes"}


@pytest.mark.parametrize("given", ['"1.4"', " 1.4 ", "1.4", '"1\\.4"'])
def test_the_version_may_be_quoted(api: Api, given: str) -> None:
    for path in (TENANTS, "/api/swagger.json"):
        answer = api.send(
            "GET",
            path,
            version=None,
            headers={"Accept": f"text/x, application/json ; Version = {given} ;q=0.9"},
            status=200,
        )
        assert answer.headers["API-Version"] == "1.4"


# -- hosts


@pytest.mark.parametrize(
    "given",
    [
        "netinv.example",
        "NETINV.example:8443",
        "netinv.example.",
        "a.inner.example",
        "a.b.inner.example:80",
        "[2001:db8::1]:443",
    ],
)
def test_allowed_hosts_are_answered(api: Api, configured: Any, given: str) -> None:
    with configured(allowed_hosts=("netinv.example", ".inner.example", "[2001:db8::1]")):
        api.get("/api/", headers={"Host": given})


@pytest.mark.parametrize(
    "given",
    ["evil.example", "netinv.example.evil.example", "xinner.example", "netinv.example@evil.example", "127.0.0.1", ""],
)
@pytest.mark.parametrize(
    "path", ["/api/", TENANTS, "/api/docs/", "/nosuch", "/metrics", "/api/docs/assets/swagger-ui.css"]
)
def test_other_hosts_are_refused_before_anything_else(
    api: Api, anonymous: Api, configured: Any, statements: Any, path: str, given: str
) -> None:
    with configured(allowed_hosts=("netinv.example", ".inner.example")), statements() as sent:
        for client in (api, anonymous):
            assert (
                client.send("GET", path, headers={"Host": given}, status=400)
                .json["detail"]
                .startswith("The header Host ")
            )
    assert not sent


def test_a_request_without_a_host_is_refused_where_hosts_are_named(service: Service, configured: Any) -> None:
    request = webtest.TestRequest.blank("/api/")
    del request.environ["HTTP_HOST"]
    with configured(allowed_hosts=("netinv.example",)):
        assert request.get_response(service.app).json == {"detail": "The header Host is missing."}


@pytest.mark.parametrize(
    "given", ["a b", "a/b", "a,b", "a?b", "<x>", "a:b", "a:80:80", "é", "x" * 300, "[::1", "a\x00", "a@b"]
)
def test_a_host_that_is_none_is_refused(api: Api, given: str) -> None:
    assert api.get("/api/", headers={"Host": given}, status=400) == {
        "detail": "The header Host is no name or address of a host."
    }


# -- headers of answers


def test_every_answer_tells_browsers_and_caches_what_not_to_do(api: Api, anonymous: Api) -> None:
    asked = [(api, path) for path in ("/api/", TENANTS, f"{TENANTS}x/")]
    asked += [(anonymous, path) for path in (TENANTS, "/nosuch", "/api/docs/", "/api/status")]
    for client, path in asked:
        for accept in ("application/json", "text/html"):
            headers = client.send("GET", path, version=None, headers={"Accept": accept}).headers
            assert (headers["X-Content-Type-Options"], headers["X-Frame-Options"]) == ("nosniff", "DENY")
            is_page = path == "/nosuch" and accept == "text/html"  # kept for going back, and validated by ETag
            cached = "private, no-cache" if is_page else "no-store"
            assert (headers["Cache-Control"], headers["Referrer-Policy"]) == (cached, "same-origin")
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert "Strict-Transport-Security" not in headers


def test_scripts_run_on_the_page_of_the_documentation_alone(api: Api, anonymous: Api) -> None:
    first, second = (anonymous.send("GET", "/api/docs/", status=200) for _ in range(2))
    nonce = first.headers["Content-Security-Policy"].partition("'nonce-")[2].partition("'")[0]
    assert f'<script nonce="{nonce}">' in first.text and nonce not in second.text
    page = api.send("GET", TENANTS, version=None, headers={"Accept": "text/html"}, status=200)
    policy = page.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ") and "nonce" not in policy
    assert "script-src" not in policy or "script-src 'self';" in policy


def test_browsers_are_told_to_stay_with_https_where_it_is_used(service: Service, configured: Any) -> None:
    with configured(hsts_seconds=3600):
        assert (
            raw(service, "GET", "/nosuch", **{"wsgi.url_scheme": "https"}).headers["Strict-Transport-Security"]
            == "max-age=3600"
        )
        assert "Strict-Transport-Security" not in raw(service, "GET", "/nosuch").headers
