"""Patterns, blanks, letter case, order and time, which databases treat differently: each of them answers alike. The gate
runs this module on all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.db.expressions import db_now, in_parameter
from netinv_core.sql import lookups, relations
from netinv_dcim.sites import Site
from netinv_testing import Service
from tests.support.rows import Rows

SITES, PERMISSIONS = "/api/dcim/sites/", "/api/users/permissions/"
TEXTS = ["", "a%b", "a_b", "a/b", "a\\b", "axb", "A%B", "Ärger", "ärger", "x", "x-", "x y"]
PARTS = ["_", "%", "a%", "ÄR", "/", "_b", "\\", "x", "x "]  # "x " is no text, and the end of none
Holds = Callable[[str, str], bool]
FOLDED: dict[str, Holds] = {
    "ic": lambda text, part: part.lower() in text.lower(),
    "isw": lambda text, part: text.lower().startswith(part.lower()),
    "iew": lambda text, part: text.lower().endswith(part.lower()),
    "ie": lambda text, part: text.lower() == part.lower(),
}
IN_CASE: dict[str, Holds] = {
    "contains": lambda text, part: part in text,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "exact": str.__eq__,
}


@pytest.fixture
def rows(service: Service) -> Rows:
    """Sites with texts."""
    word = service.unique()
    bodies = [
        {"name": f"{word} {number}", "status": "active", "facility": word, "description": text}
        for number, text in enumerate(TEXTS)
    ]
    return Rows(SITES, {"facility": word}, service.api.post(SITES, bodies))


def texts_of(rows: Rows, found: set[str]) -> set[str]:
    """The descriptions of sites."""
    return {row["description"] for row in rows if row["id"] in found}


def expected(parts: list[str], holds: Holds) -> dict[str, set[str]]:
    """The texts that fit each part."""
    return {part: {text for text in TEXTS if holds(text, part)} for part in parts}


def test_wildcards_and_blanks_are_letters_in_filters(service: Service, rows: Rows) -> None:
    for lookup, holds in FOLDED.items():
        name = f"description__{lookup}"
        found = {part: texts_of(rows, rows.found(service, **{name: part})) for part in PARTS}
        assert found == expected(PARTS, holds), lookup


def test_wildcards_blanks_and_case_count_in_constraints(service: Service, rows: Rows) -> None:
    user = service.user()
    permission = service.permit("view", "dcim.site", {"name": ""}, users=[user.id])

    def seen(lookup: str, part: str) -> set[str]:
        service.api.patch(permission["url"], {"constraints": {f"description__{lookup}": part, **rows.scope}})
        return texts_of(rows, {item["id"] for item in user.api.get(SITES, {"limit": 0, "brief": 1})["results"]})

    for lookup, holds in IN_CASE.items():
        assert {part: seen(lookup, part) for part in PARTS[::2]} == expected(PARTS[::2], holds), lookup


def test_texts_are_ordered_by_code_point(service: Service, rows: Rows) -> None:
    listed: list[Any] = service.api.get(SITES, {**rows.scope, "limit": 0, "ordering": "description"})["results"]
    assert [item["description"] for item in listed] == sorted(TEXTS)


def test_public_functions_take_the_dialect_of_packages_before_0_2() -> None:
    name, key = Site.__table__.c.name, Site.__table__.c.id
    assert in_parameter("sqlite", name, "names").compare(in_parameter(name, "names"))
    assert in_parameter("sqlite", column=name).compare(in_parameter(name))
    assert lookups.as_text("sqlite", key).compare(lookups.as_text(key))
    assert lookups.is_one_of("sqlite", ["x", "y"], name).compare(lookups.is_one_of(["x", "y"], name))


def test_paths_and_lookups_take_the_dialect_of_packages_before_0_2(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    sites, driver = service.registry["dcim.site"], service.registry.driver
    table, name, keywords = sites.table, Site.__table__.c.name, {"name__icontains": "x"}
    contains = lookups.compare("icontains", driver, name, "x")
    assert lookups.LOOKUPS["icontains"](driver.dialect, name, "x").compare(contains)
    for values in [("name__icontains", "x"), ("name__icontains", "x", relations.everything)]:
        assert relations.keyword_condition(sites, table, *values).compare(contains)
        assert relations.keyword(sites, table, driver.dialect, *values).compare(contains)
    condition = relations.constraint_condition(sites, table, keywords)
    assert relations.constraint(sites, table, driver.dialect, keywords).compare(condition)
    monkeypatch.setitem(lookups.LOOKUPS, "sounds_like", lambda dialect, column, value: column == f"{dialect} {value}")
    sounds_like = relations.keyword_condition(sites, table, "name__sounds_like", "x")
    assert sounds_like.compare(name == f"{driver.dialect} x")


def test_the_time_of_the_database_goes_on_within_a_transaction(service: Service) -> None:
    with service.unit_of_work() as uow:
        times = []
        for _ in range(2):
            times.append(uow.execute(sa.select(db_now())).scalar_one())
            time.sleep(0.01)
    assert times[0] < times[1]
