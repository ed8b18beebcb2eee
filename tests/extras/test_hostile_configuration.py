"""Hostile values in what users configure: custom fields of every type, computed fields, links, relationships, choices."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service, Unique
from netinv_web.testing import Browser, hostile_values

pytestmark = pytest.mark.any_database
ROLES, LABEL = "/api/ipam/roles/", "ipam.role"
TEXTS = [text for text in hostile_values.TEXTS if len(text) < 1000]
LITERALS = [
    "{{ '" + text.replace("\\", "").replace("'", "").replace("\n", "").replace("{", "(") + "' }}" for text in TEXTS
]


@pytest.fixture
def made(service: Service) -> Any:
    """Makes configuration by the API and deletes it after the test, so that others do not see it."""
    urls: list[str] = []

    def make(path: str, body: Any, **options: Any) -> Any:
        item = service.api.post(f"/api/{path}/", body, **options)
        urls.append(item["url"])
        return item

    yield make
    for url in [*reversed(urls), *reversed(urls)]:  # a choice in use is deleted once its object is
        service.api.delete(url, status=(204, 404, 409))


def showing(service: Service, item: Any, *columns: str) -> list[str]:
    """The paths of the pages that show a role."""
    page = f"/ipam/roles/{item['id']}/"
    listed = f"/ipam/roles/?id={item['id']}&_columns=name,{','.join(columns)}"
    return [listed, f"{page}?_show=all", f"{page}edit/", f"{page}delete/", f"{page}changelog/", f"{ROLES}{item['id']}/"]


@pytest.mark.parametrize("kind", ["text", "url", "json", "markdown"])
@pytest.mark.night
def test_every_value_of_a_custom_field_is_shown(service: Service, made: Any, unique: Unique, kind: str) -> None:
    browser, slug = Browser(service, service.admin), unique().replace("-", "_")
    field = {"label": slug, "slug": slug, "type": kind, "content_types": [LABEL]}
    made("extras/custom-fields", field)
    role = made("ipam/roles", {"name": unique(), "slug": unique()})
    paths = showing(service, role, f"custom_fields.{slug}")
    for number, value in enumerate([*hostile_values.TEXTS, *(hostile_values.DOCUMENTS if kind == "json" else ())]):
        service.api.patch(role["url"], {"custom_fields": {slug: value}})
        hostile_values.open_everything(browser, paths if number % 4 == 0 else paths[:2])
        for media_type in ("csv", "yaml"):
            service.api.send("GET", ROLES, query={"id": role["id"], "format": media_type})
    refused = service.api.send(
        "PATCH", role["url"], b'{"custom_fields": {"%s": "a\\ud800"}}' % slug.encode(), status=400
    )
    assert list(refused.json) == ["custom_fields"]


@pytest.mark.night
def test_names_of_the_configuration_are_shown_as_text(service: Service, made: Any, unique: Unique) -> None:
    browser = Browser(service, service.admin)
    role, slugs = made("ipam/roles", {"name": unique(), "slug": unique()}), []
    for text in TEXTS:
        slug, name = unique().replace("-", "_"), f"{text} {unique()}"[-50:]
        slugs.append(f"custom_fields.{slug}")
        of_type = {"content_types": [LABEL], "type": "multi-select", "description": text, "grouping": text}
        field = made("extras/custom-fields", {"label": name, "slug": slug, **of_type})
        made("extras/custom-field-choices", {"field": field["id"], "value": name.strip()})
        service.api.patch(role["url"], {"custom_fields": {slug: [name.strip()]}}, status=(200, 400))
        ends = {"type": "one-to-one", "source_type": LABEL, "destination_type": LABEL}
        labels = {"source_label": text[:50], "destination_label": text[:50]}
        made("extras/relationships", {"name": name, "slug": unique(), **ends, **labels})
    hostile_values.open_everything(browser, showing(service, role, *slugs))


@pytest.mark.parametrize("template", [*LITERALS, "{{ '\\ud800' }}", "{{ '\\x00\\ufffe' }}", "{{ 10 ** 400 }}"])
def test_what_templates_render_is_shown(service: Service, made: Any, unique: Unique, template: str) -> None:
    browser, name, slug = Browser(service, service.admin), unique(), unique().replace("-", "_")
    made("extras/computed-fields", {"label": name, "slug": slug, "content_type": LABEL, "template": template})
    link = {"name": name, "content_type": LABEL, "text": f"x {template}", "new_window": False}
    made("extras/custom-links", {**link, "target_url": template[:500]})
    role = made("ipam/roles", {"name": unique(), "slug": unique()})
    hostile_values.open_everything(browser, showing(service, role, f"computed_fields.{slug}"))
    assert service.api.get(role["url"], {"include": "computed_fields"})["computed_fields"][slug] is not None
