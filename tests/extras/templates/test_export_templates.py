"""Export templates: lists as files of the users' own making."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_testing import Api, Service, Unique

TEMPLATES = "/api/extras/export-templates/"
SITES = "/api/dcim/sites/"
NAMES = "{% for site in queryset %}{{ site.name }}\n{% endfor %}"
MAX = 4  # statements: token, template, ids, rows


@pytest.fixture
def make_template(api: Api, unique: Unique) -> Any:
    """``make_template(code, …)``: a template for sites."""
    return lambda code, **fields: api.post(
        TEMPLATES, {"name": unique(), "content_type": "dcim.site", "template_code": code, **fields}
    )


@pytest.fixture
def make_sites(api: Api, unique: Unique) -> Any:
    """``make_sites(number, …)``: sites with one description that nothing else has."""

    def post(number: int, **fields: Any) -> list[Any]:
        word = unique()
        bodies = [
            {"name": f"{word} {place}", "status": "active", "description": word, **fields} for place in range(number)
        ]
        found: list[Any] = api.post(SITES, bodies)
        return found

    return post


def exported(api: Api, template: Any, status: int = 200, path: str = SITES, **query: Any) -> Any:
    """The answer to an export."""
    return api.send("GET", path, query={"export": template["name"], **query}, status=status)


def of(sites: list[Any]) -> dict[str, Any]:
    """The filter for sites made together."""
    return {"description": sites[0]["description"]}


def test_a_template_gets_what_the_filters_select_as_a_file(api: Api, make_template: Any, make_sites: Any) -> None:
    sites = make_sites(3)
    template = make_template(NAMES, mime_type="text/csv", file_extension="csv")
    answer = exported(api, template, **of(sites))
    assert answer.text == "".join(f"{site['name']}\n" for site in sites)
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="sites.csv"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_what_a_template_leaves_open_has_an_answer(api: Api, make_template: Any, make_sites: Any) -> None:
    answer = exported(api, make_template(NAMES, mime_type=""), **of(make_sites(1)))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="sites"'


BAD_HEADERS = {
    "mime_type": ("not a type", "text/plain;\n x=y", "text/html\r\nX: y", "textplain", "text/é", 'text/x; a="', "a/b;"),
    "file_extension": ('../"x', "a\nb", "a b", "x\u202ey", "a;b", "a\x1b"),
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, all in BAD_HEADERS.items() for value in all])
def test_what_cannot_be_in_a_header_is_refused_and_harmless_where_it_is_stored(
    service: Service, make_template: Any, make_sites: Any, field: str, value: str
) -> None:
    refused = service.api.post(
        TEMPLATES,
        {"name": "x", "content_type": "dcim.site", "template_code": "x", field: value},
        status=400,
    )
    assert list(refused) == [field]
    template, table = make_template(NAMES), service.registry["extras.exporttemplate"].table
    with service.app.registry.netinv_engine.begin() as connection:
        is_template = table.c.id == uuid.UUID(template["id"])
        connection.execute(sa.update(table).where(is_template).values({field: value}))
    answer = exported(service.api, template, **of(make_sites(1)))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="[\w.-]+"', answer.headers["Content-Disposition"])
    service.api.patch(f"{TEMPLATES}{template['id']}/", {"description": "another field"})


@pytest.mark.parametrize(
    "mime_type",
    [
        "text/javascript",
        "Application/JavaScript; charset=utf-8",
        "text/jscript",
        "application/x-ecmascript",
        "text/css",
    ],
)
def test_a_file_that_other_pages_would_run_is_sent_as_plain_text(
    api: Api, make_template: Any, make_sites: Any, mime_type: str
) -> None:
    answer = exported(api, make_template(NAMES, mime_type=mime_type), **of(make_sites(1)))
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("mime_type", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml"])
def test_a_file_that_a_browser_would_show_is_an_attachment(
    api: Api, make_template: Any, make_sites: Any, mime_type: str
) -> None:
    answer = exported(api, make_template(NAMES, mime_type=mime_type), **of(make_sites(1)))
    assert answer.headers["Content-Type"].partition(";")[0] == mime_type
    assert answer.headers["Content-Disposition"].startswith("attachment; ")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_objects_are_read_by_attributes(
    api: Api, make_template: Any, make_sites: Any, make: Any, unique: Unique
) -> None:
    region, field = make("/api/dcim/regions/"), unique()
    tag = api.post(
        "/api/extras/tags/", {"name": unique(), "slug": unique(), "color": "ff0000", "content_types": ["dcim.site"]}
    )
    api.post(
        "/api/extras/custom-fields/", {"label": field, "slug": field, "type": "text", "content_types": ["dcim.site"]}
    )
    sites = make_sites(2, region=region["id"], tags=[tag["id"]], custom_fields={field: "gold"})
    code = (
        "{{ queryset.count() }} {{ queryset|length }} {{ queryset.exists() }} {{ queryset.first().name }}\n"
        "{% for site in queryset.all() %}{{ loop.index }} {{ site }} {{ site.region }} {{ site.region.slug }} {{ site['status'] }} {{ site.status.slug }}"
        f" {{{{ site.cf.{field} }}}} {{% for tag in site.tags %}}{{{{ tag.slug }}}}{{% endfor %}}{{{{ site.asn }}}}\n{{% endfor %}}"
    )
    names = [site["name"] for site in sites]
    lines = [
        f"{place} {name} {region['name']} {region['slug']} Active active gold {tag['slug']}"
        for place, name in enumerate(names, 1)
    ]
    assert exported(api, make_template(code), **of(sites)).text.splitlines() == [f"2 2 True {names[0]}", *lines]
    assert exported(api, make_template("{{ queryset }}"), **of(sites)).text == ", ".join(names)


def test_it_takes_as_many_statements_for_many_objects_as_for_one(
    api: Api, make_template: Any, make_sites: Any, statements: Any
) -> None:
    template, counts = make_template(NAMES), []
    for number in (1, 40):
        sites = make_sites(number)
        with statements() as found:
            assert len(exported(api, template, **of(sites)).text.splitlines()) == number
        counts.append(len(found))
    assert counts[0] == counts[1] <= MAX


def test_only_what_the_viewer_may_see_is_exported(
    api: Api, make_template: Any, make_sites: Any, make_user: Any, anonymous: Api
) -> None:
    sites, template = make_sites(2), make_template(NAMES)
    one = make_user(("view", "dcim.site", {"name": sites[0]["name"]}))
    assert exported(one.api, template, **of(sites)).text == f"{sites[0]['name']}\n"
    exported(make_user(("view", "extras.exporttemplate")).api, template, status=403)
    exported(anonymous, template, status=403)


def test_all_there_is_comes_at_once_unless_a_part_is_asked_for(
    api: Api, make_template: Any, make_sites: Any, configured: Any
) -> None:
    sites, template = make_sites(4), make_template(NAMES)
    with configured(paginate_count=1, max_page_size=2, max_export_size=3):
        assert exported(api, template, **of(sites[:1]), limit=2, offset=1).text.split("\n")[0] == sites[1]["name"]
        assert exported(api, template, **of(sites), offset=1).text.count("\n") == 3
        for query in ({}, {"limit": 0}, {"limit": 50}):
            answer = exported(api, template, status=400, **of(sites), **query).json
            assert answer == {
                "export": ["At most 3 objects are exported at once: filter them, or use limit and offset."]
            }
    with configured(max_export_size=0, paginate_count=1):
        assert exported(api, template, **of(sites)).text.count("\n") == 4


@pytest.mark.parametrize("name", ["", "nothing", "\x00", "é"])
def test_a_name_that_no_template_has_is_refused(api: Api, make_template: Any, name: str) -> None:
    template = make_template(NAMES)
    assert exported(api, {"name": name}, status=400).json == {
        "export": ["There is no export template of this name for sites."]
    }
    answer = exported(api, template, status=400, path="/api/dcim/devices/").json
    assert answer == {"export": ["There is no export template of this name for devices."]}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("{{ queryset.nothing.more }}", "has no attribute 'nothing'"),
        ("{{ 1 / 0 }}", "ZeroDivisionError: division by zero"),
        ("{{ queryset.__class__.__mro__ }}", "Line 1: "),
        ("{% for site in queryset %}{{ site._crowd.context }}{% endfor %}", "has no attribute '_crowd'"),
        (
            "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
            "it takes longer than 0.2 s",
        ),
        ("{% for a in range(100) %}{{ 'x' * 1000000 }}{% endfor %}", "it makes too much text"),
    ],
)
def test_a_template_that_fails_says_why(
    api: Api, make_template: Any, make_sites: Any, configured: Any, code: str, reason: str
) -> None:
    with configured(export_timeout=0.2):
        answer = exported(api, make_template(code), status=400, **of(make_sites(1))).json
    assert list(answer) == ["export"]
    assert answer["export"][0].startswith("The template failed: ") and reason in answer["export"][0]


def test_filters_of_an_export_are_those_of_the_list(api: Api, make_template: Any) -> None:
    assert exported(api, make_template(NAMES), status=400, nothing="x").json == {"nothing": ["Unknown filter field"]}
    assert api.get("/api/dcim/sites/", {"export": ""}, status=400)["export"]


def test_an_owned_template_stands_back_for_one_that_nobody_owns(api: Api, make_template: Any, make_sites: Any) -> None:
    sites = make_sites(1)
    owned = make_template("owned", owner_content_type="dcim.site", owner_object_id=sites[0]["id"])
    assert owned["display"] == f"[{sites[0]['name']}] dcim | site: {owned['name']}"
    assert exported(api, owned).text == "owned"
    make_template("free", name=owned["name"])
    assert exported(api, owned).text == "free"
    answer = api.post(TEMPLATES, {"name": owned["name"], "content_type": "dcim.site", "template_code": "x"}, status=400)
    assert answer == {"name": ["An ExportTemplate with this name and content type already exists."]}


def test_it_works_on_the_lists_of_plugins(api: Api, make_template: Any, unique: Unique) -> None:
    path, label = "/api/plugins/example/maintenance-windows/", "example.maintenancewindow"
    site = api.post(SITES, {"name": unique(), "status": "active"})
    window = {
        "name": unique(),
        "slug": unique(),
        "site": site["id"],
        "start": "2030-01-01T22:00:00Z",
        "end": "2030-01-02T04:00:00Z",
    }
    api.post(path, window)
    template = make_template(
        "{% for w in queryset %}{{ w.name }} {{ w.site }} {{ w.status }} {{ w.get_status_display() }}{% endfor %}",
        content_type=label,
    )
    assert (
        exported(api, template, path=path, name=window["name"]).text
        == f"{window['name']} {site['name']} planned Planned"
    )


def test_templates_are_read_when_they_are_saved_and_found_by_content_type(
    api: Api, make_template: Any, service: Any
) -> None:
    body = {"name": "x", "content_type": "dcim.site", "template_code": "{% for %}"}
    assert api.post(TEMPLATES, body, status=400)["template_code"][0].startswith(
        "This template does not compile. Line 1: "
    )
    made = make_template(NAMES)
    number = service.registry.content_types["dcim.site"].id
    for value in (number, "dcim.site"):
        assert api.get(TEMPLATES, {"name": made["name"], "content_type": value})["count"] == 1
        assert api.get(TEMPLATES, {"name": made["name"], "content_type__n": value})["count"] == 0
    refused = "Select a valid choice. That choice is not one of the available choices."
    for value in ("0", "dcim.nothing", "null", "extras.objectchange"):
        assert api.get(TEMPLATES, {"content_type": value}, status=400) == {"content_type": [refused]}


def test_the_parameter_is_documented(api: Api) -> None:
    document = api.get("/api/swagger.json", {"api_version": "1.6"})
    (described,) = [item for item in document["paths"]["/dcim/sites/"]["get"]["parameters"] if item["name"] == "export"]
    assert "export template" in described["description"]
