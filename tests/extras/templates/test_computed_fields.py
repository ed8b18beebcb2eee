"""Computed fields: what templates make of objects, what they may ask for, and what that costs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from netinv_testing import Api, Service

FIELDS, TENANTS, GROUPS, ROLES = (
    "/api/extras/computed-fields/",
    "/api/tenancy/tenants/",
    "/api/tenancy/tenant-groups/",
    "/api/dcim/rack-roles/",
)
TENANT, GROUP = "tenancy.tenant", "tenancy.tenantgroup"


@pytest.fixture
def compute(api: Api) -> Iterator[Any]:
    """``compute(template, …)``: the slug of a new computed field of tenants, gone after the test."""
    made = []

    def post(template: str, label: str = TENANT, **members: Any) -> str:
        slug = f"c{uuid.uuid4().hex[:12]}"
        made.append(
            api.post(
                FIELDS, {"slug": slug, "label": slug.upper(), "content_type": label, "template": template, **members}
            )["url"]
        )
        return slug

    yield post
    for url in made:
        api.delete(url, status=(204, 404))


def value(api: Api, thing: Any, slug: str) -> Any:
    """The value of a computed field of an object."""
    return api.get(thing["url"], {"include": "computed_fields"})["computed_fields"][slug]


def test_a_field_has_what_was_given_and_the_usual_for_the_rest(api: Api, unique: Any) -> None:
    word = unique().replace("-", " ")
    made = api.post(FIELDS, {"label": f"Some {word}", "content_type": TENANT, "template": "{{ obj.name }}"})
    assert (made["slug"], made["weight"], made["fallback_value"]) == (f"some_{word}".replace(" ", "_").lower(), 100, "")
    again = {"label": f"Some {word}", "content_type": TENANT, "template": "x"}
    assert api.post(FIELDS, again, status=400) == {
        "non_field_errors": ["The fields content_type, label must make a unique set."]
    }
    assert api.post(FIELDS, again | {"label": "l", "template": "{{ obj"}, status=400)["template"][0].startswith(
        "This template does not compile. Line 1"
    )
    assert api.post(FIELDS, again | {"content_type": "extras.note"}, status=400) == {
        "content_type": ["Invalid content type: extras.note"]
    }
    api.delete(made["url"])


def test_objects_show_values_to_those_who_ask(api: Api, compute: Any, make: Any) -> None:
    slug, tenant = compute("{{ obj.name | upper }}"), make(TENANTS)
    assert value(api, tenant, slug) == tenant["name"].upper()
    assert "computed_fields" not in api.get(tenant["url"])
    (listed,) = api.get(TENANTS, {"id": tenant["id"], "include": "computed_fields"})["results"]
    assert listed["computed_fields"][slug] == tenant["name"].upper()
    assert api.patch(tenant["url"], {"name": tenant["name"] + "x", "computed_fields": {slug: "ignored"}})[
        "computed_fields"
    ][slug].endswith("X")
    assert slug not in make(ROLES)["computed_fields"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ obj.group.name }}/{{ obj.group.slug }}", "{group}/{group}"),
        ("{{ obj.group.parent.name }}", "{parent}"),
        ("{{ obj.group }} {{ obj }}", "{group} {tenant}"),
        ("{{ obj['name'] }} {{ obj.pk == obj.id }}", "{tenant} True"),
        (
            "{{ obj.tags | join(' ') }} {{ obj.tags.all() | map(attribute='slug') | join }} {{ obj.tags.count() }}",
            "{tag} {tag} 1",
        ),
        (
            "{% for one in obj.group.tenants.all() %}{{ one.name }}{% endfor %}{{ obj.group.tenants.first() }}",
            "{tenant}{tenant}",
        ),
        (
            "{{ obj.group.tenants.exists() }} {{ obj.group.tenants | length }} {{ obj.group.tenants }}",
            "True 1 {tenant}",
        ),
        ("{{ obj.cf.nothing }}|{{ obj.custom_field_data.get('x', 'y') }}", "|y"),
        ("{{ obj.group.tenant_count }}", "1"),
        ("{{ obj.created.year > 2000 }}", "True"),
        ("{{ obj.description }}", ""),
    ],
)
def test_a_template_goes_from_object_to_object(api: Api, compute: Any, make: Any, template: str, expected: str) -> None:
    slug = compute(template, fallback_value="failed")
    parent, tag = make(GROUPS), make("/api/extras/tags/", content_types=[TENANT])
    group = make(GROUPS, parent=parent["id"])
    tenant = make(TENANTS, group=group["id"], tags=[tag["id"]])
    names = {"group": group["name"], "parent": parent["name"], "tenant": tenant["name"], "tag": tag["name"]}
    assert value(api, tenant, slug) == expected.format(**names)


@pytest.mark.parametrize(
    "template",
    [
        "{{ obj.nosuch.deeper }}",
        "{{ obj.group.name.nosuch.deeper }}",
        "{{ 1 / 0 }}",
        "{{ obj.__class__.__mro__ }}",
        "{{ obj._crowd.context }}",
        "{{ obj.name.__class__.__base__.__subclasses__() }}",
        "{{ obj.computed_fields.x }}",
        "{% for a in range(9999) %}{% for b in range(9999) %}{{ obj.name }}{% endfor %}{% endfor %}",
    ],
)
def test_what_fails_has_the_fallback(api: Api, compute: Any, make: Any, template: str) -> None:
    assert value(api, make(TENANTS), compute(template, fallback_value="-")) == "-"


@pytest.mark.night
def test_a_template_that_holds_its_process_for_one_object_costs_the_others_nothing(
    api: Api, compute: Any, make: Any, configured: Any
) -> None:
    group = make(GROUPS)
    good, bad = make(TENANTS, group=group["id"]), make(TENANTS, group=group["id"])
    twins = "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}"
    slug = compute(
        "{% if obj.name == '" + bad["name"] + "' %}" + twins + "{% endif %}{{ obj.name }}", fallback_value="-"
    )
    other = compute("{{ obj.name }}")
    with configured(template_timeout=0.3, template_total_timeout=60.0):
        listed = api.get(TENANTS, {"group_id": group["id"], "include": "computed_fields"})["results"]
    values = {shown["name"]: (shown["computed_fields"][slug], shown["computed_fields"][other]) for shown in listed}
    assert values == {good["name"]: (good["name"], good["name"]), bad["name"]: ("-", bad["name"])}


def test_what_one_page_asked_for_is_not_taken_for_what_the_next_one_has(
    api: Api, compute: Any, make: Any, make_user: Any
) -> None:
    """Attributes that a template asked for last time are sent along the next time: also where other objects, or another
    user, lead elsewhere.
    """
    parent = make(GROUPS, description="top")
    group = make(GROUPS, parent=parent["id"], description="sub")
    tenants = [make(TENANTS, group=group["id"]), make(TENANTS, group=parent["id"]), make(TENANTS)]
    slug = compute(
        "{% if obj.group %}{% if obj.group.parent %}{{ obj.group.parent.description }}>{% endif %}{{ obj.group.description }}{% endif %}"
        "{% for one in obj.group.tenants or [] %}+{{ one.group.description }}{% endfor %}"
    )
    expected = ["top>sub+sub", "top+top", ""]
    reader = make_user(("view", TENANT))
    for _ in range(2):
        assert [value(api, tenant, slug) for tenant in tenants] == expected
        assert [value(reader.api, tenant, slug) for tenant in tenants] == ["", "", ""]
        assert [value(api, tenant, slug) for tenant in reversed(tenants)] == expected[::-1]


def test_nothing_secret_gets_into_a_template(api: Api, compute: Any, make: Any, unique: Any) -> None:
    slug = compute("{{ obj.secret.upper() }}|{{ obj.additional_headers }}", label="extras.secret", fallback_value="-")
    secret = api.post(
        "/api/extras/secrets/",
        {"name": unique(), "provider": "environment-variable", "parameters": {"variable": "HOME"}},
    )
    assert value(api, secret, slug) == "-"


def test_whoever_may_not_view_an_object_sees_of_it_what_is_nested(
    api: Api, compute: Any, make: Any, make_user: Any
) -> None:
    group = make(GROUPS, description="internal")
    tenant, _hidden = make(TENANTS, group=group["id"]), make(TENANTS, group=group["id"], description="hidden")
    named, more = compute("{{ obj.group.name }}"), compute("{{ obj.group.description.upper() }}", fallback_value="-")
    back = compute("{{ obj.group.tenants | length }}", fallback_value="-")
    reader = make_user(("view", TENANT, {"id": tenant["id"]}))
    assert (value(reader.api, tenant, named), value(reader.api, tenant, more), value(reader.api, tenant, back)) == (
        group["name"],
        "",
        "0",
    )
    friend = make_user(("view", TENANT, {"id": tenant["id"]}), ("view", GROUP))
    assert (value(friend.api, tenant, more), value(friend.api, tenant, back)) == ("INTERNAL", "1")
    assert (value(api, tenant, more), value(api, tenant, back)) == ("INTERNAL", "2")


def test_they_cost_the_same_for_one_object_and_for_many(api: Api, service: Service, compute: Any, make: Any) -> None:
    groups = [make(GROUPS) for _ in range(5)]
    tenants = [make(TENANTS, group=group["id"]) for group in groups]
    compute(
        "{{ obj.name }} {{ obj.group.name }} {{ obj.group.parent }} {{ obj.group.tenants | length }}{{ obj.description }}"
    )

    def read(some: list[Any], **query: Any) -> int:
        with service.statements() as found:
            api.get(TENANTS, {"id": [tenant["id"] for tenant in some], **query})
        return len(found)

    read(tenants, include="computed_fields")  # definitions are read once
    assert read(tenants, include="computed_fields") == read(tenants[:1], include="computed_fields") <= read(tenants) + 3
