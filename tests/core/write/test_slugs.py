"""Slugs made from names in any script, of every resource that has slugs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_admin import migrate
from netinv_core.db.engine import WRITING
from netinv_core.endpoint import Endpoint
from netinv_core.models.columns import column_info
from netinv_core.write.slugs import FreeSlugs, slugify
from netinv_testing import Case, Service
from tests.support.registry import REGISTRY

BLANK = {"slug": ["This field may not be blank."]}
NAMES = ("東京", "Москва", "القاهرة", "서울 본사", "Αθήνα", "🚀", "！？", "…", "---", "\u200d\ufe0f")


def sluggish(endpoint: Endpoint) -> bool:
    """True for a resource that clients write, with slugs made of another field."""
    slug = endpoint.writable.get("slug")
    return endpoint.resource.writable and slug is not None and bool(column_info(endpoint.table.c.slug).slug_of)


LABELS = sorted(endpoint.label for endpoint in REGISTRY.endpoints.values() if sluggish(endpoint))


def source_of(endpoint: Endpoint) -> str:
    """The field that slugs are made of."""
    return str(column_info(endpoint.table.c.slug).slug_of)


def bodies(case: Case, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Bodies for new objects of these names, without slugs."""
    for name in names:
        body = case.body(**{source_of(case.endpoint): name})
        body.pop("slug", None)
        yield body


@pytest.mark.parametrize("label", LABELS)
def test_names_in_any_script_have_slugs_that_find_them(label: str, service: Service) -> None:
    case = Case(service, label)
    made = case.api.post(case.path, list(bodies(case, NAMES)))
    slugs = [item["slug"] for item in made]
    assert all(slugs) and len(set(slugs)) == len(slugs)
    for item in made:
        found = case.api.get(case.path, {"slug": item["slug"], "id": [other["id"] for other in made]})["results"]
        assert [other["id"] for other in found] == [item["id"]]


@pytest.mark.parametrize("label", LABELS)
def test_blank_slugs_are_refused(label: str, service: Service) -> None:
    case = Case(service, label)
    item = case.make()
    for blank in ("", " "):
        assert case.api.post(case.path, case.body(slug=blank), status=400)["slug"] == BLANK["slug"]
        assert case.api.patch(case.at(item), {"slug": blank}, status=400)["slug"] == BLANK["slug"]
    assert case.read(item)["slug"] == item["slug"]


@pytest.mark.night
def test_a_migration_replaces_blank_slugs(service: Service) -> None:
    made: list[tuple[Case, dict[str, Any]]] = []
    with service.engine.connect().execution_options(**{WRITING: True}) as connection:
        for case in (Case(service, label) for label in LABELS):
            item = case.api.post(case.path, next(bodies(case, (f"京都{case.unique()}",))))
            made.append((case, item))
        for case, item in made:
            table = case.endpoint.table
            blanked = sa.update(table).where(table.c.id == case.endpoint.parse_key(item["id"])).values(slug="")
            connection.execute(blanked)
        connection.commit()
    migrate.seed(service.engine, service.registry)
    for case, item in made:
        assert case.read(item)["slug"] == item["slug"], case.path


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Core Router 1", "core-router-1"),
        ("a_b - c", "a_b-c"),
        ("Zürich", "zurich"),
        ("½ U", "12-u"),
        ("Tokyo 🚀", "tokyo"),
        ("東京 DC1", "dongjing-dc1"),
        ("Москва", "moskva"),
        ("Straße", "strasse"),
        ("🚀", "rocket"),
        ("", ""),
    ],
)
def test_letters_are_transliterated(name: str, slug: str) -> None:
    assert slugify(name) == slug


def test_a_name_without_any_word_has_a_slug_of_its_own() -> None:
    assert slugify("!!!") == slugify("!!!") != slugify("!!") and slugify("!!!").startswith("x")


class CountedSet(set[Any]):
    """A set that counts how often it was asked for a value."""

    asked = 0

    def __contains__(self, value: object) -> bool:
        self.asked += 1
        return super().__contains__(value)


def test_many_objects_of_one_name_take_few_steps_each() -> None:
    """A request with thousands of them would hold the process."""
    taken = CountedSet({"core", "core-2"})
    slugs = FreeSlugs(taken, "-", 100)
    assert [slugs.take("core") for _ in range(500)] == [f"core-{number}" for number in range(3, 503)]
    assert taken.asked < 1500
