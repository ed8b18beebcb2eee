"""Counts of long lists, which a process keeps and brings up to date by the change records."""

from __future__ import annotations

import re

import pytest

from netinv_core.changelog.sequence import number_changes
from netinv_core.read import counts
from netinv_testing import Api, Service, Unique

TENANTS, CHANGES = "/api/tenancy/tenants/", "/api/extras/object-changes/"
PAGE, FILTERED = {"limit": 1}, {"name__n": "no such name"}


def forget_counts(monkeypatch: pytest.MonkeyPatch, service: Service) -> None:
    """Drops the counts that the registry has, until the end of the test."""
    kept = {key: value for key, value in service.registry.derived.items() if key[0] is not counts.counts_of.__wrapped__}
    monkeypatch.setattr(service.registry, "derived", kept)


@pytest.fixture
def long_lists(monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique) -> None:
    """Every list counts as a long one, and that of the tenants was counted."""
    monkeypatch.setattr(counts, "CACHED_FROM", 1)
    forget_counts(monkeypatch, service)
    api.post(TENANTS, [{"name": f"{unique()} {n}"} for n in range(3)])
    number_changes(service.engine, service.registry)
    for _ in range(2):
        for path, filters in ((TENANTS, {}), (TENANTS, FILTERED), (CHANGES, {})):
            api.get(path, PAGE | filters)


def whole(api: Api, path: str) -> int:
    """The number of objects in all pages."""
    number = 0
    while results := api.get(path, {"limit": 1000, "offset": number, "count": "none", "fields": "id"})["results"]:
        number += len(results)
    return number


@pytest.mark.usefixtures("long_lists")
def test_a_kept_count_takes_part_in_what_is_created_and_deleted(api: Api, unique: Unique) -> None:
    count = api.get(TENANTS, PAGE)["count"]
    created = api.post(TENANTS, [{"name": f"{unique()} {n}"} for n in range(2)])
    assert api.get(TENANTS, PAGE)["count"] == count + 2
    api.patch(f"{TENANTS}{created[0]['id']}/", {"comments": "changed"})
    assert api.get(TENANTS, PAGE)["count"] == count + 2
    api.delete(f"{TENANTS}{created[0]['id']}/")
    assert api.get(TENANTS, PAGE)["count"] == count + 1 == whole(api, TENANTS)


@pytest.mark.usefixtures("long_lists")
def test_a_kept_count_is_right_when_changes_get_their_numbers(service: Service, api: Api, unique: Unique) -> None:
    count = api.get(TENANTS, PAGE)["count"]
    api.post(TENANTS, {"name": unique()})
    number_changes(service.engine, service.registry)
    assert api.get(TENANTS, PAGE)["count"] == count + 1


@pytest.mark.usefixtures("long_lists")
def test_the_table_is_not_counted_again(service: Service, api: Api, unique: Unique) -> None:
    api.post(TENANTS, {"name": unique()})
    with service.statements() as executed:
        count = api.get(TENANTS, PAGE)["count"]
    assert not [sql for sql in executed if re.search(r"count\(\*\) AS \w+\s+FROM tenancy_tenant", sql)]
    assert count == whole(api, TENANTS)


@pytest.mark.parametrize("path", [TENANTS, CHANGES])
@pytest.mark.usefixtures("long_lists")
def test_a_table_counted_while_changes_wait_for_numbers_is_not_counted_again(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique, path: str
) -> None:
    """Under steady writes some always wait, as they get their numbers once a minute."""
    api.delete(f"{TENANTS}{api.post(TENANTS, [{'name': f'{unique()} {n}'} for n in range(3)])[0]['id']}/")
    forget_counts(monkeypatch, service)
    for _ in range(2):
        api.get(path, PAGE)
    api.post(TENANTS, {"name": unique()})
    with service.statements() as executed:
        count = api.get(path, PAGE)["count"]
    assert not [sql for sql in executed if re.search(r"count\(\*\) AS \w+\s+FROM (tenancy_|core_object_change)", sql)]
    assert count == whole(api, path)
    number_changes(service.engine, service.registry)
    assert api.get(path, PAGE)["count"] == count == whole(api, path)


@pytest.mark.usefixtures("long_lists")
def test_many_changes_have_the_table_counted_again(
    monkeypatch: pytest.MonkeyPatch, service: Service, api: Api, unique: Unique
) -> None:
    monkeypatch.setattr(counts, "MAX_CHANGES", 1)
    api.post(TENANTS, [{"name": f"{unique()} {n}"} for n in range(3)])
    assert api.get(TENANTS, PAGE)["count"] == whole(api, TENANTS)
    number_changes(service.engine, service.registry)
    assert api.get(TENANTS, PAGE)["count"] == whole(api, TENANTS)


@pytest.mark.usefixtures("long_lists")
def test_the_count_of_the_change_log_grows_with_each_change(api: Api, unique: Unique) -> None:
    count = api.get(CHANGES, PAGE)["count"]
    api.post(TENANTS, [{"name": f"{unique()} {n}"} for n in range(2)])
    assert api.get(CHANGES, PAGE)["count"] == count + 2


@pytest.mark.usefixtures("long_lists")
def test_a_limited_user_gets_the_count_of_what_he_may_view(service: Service, api: Api, unique: Unique) -> None:
    name = unique()
    api.post(TENANTS, [{"name": name}, {"name": unique()}])
    limited = service.user(("view", "tenancy.tenant", {"name": name})).api
    assert limited.get(TENANTS, {"limit": 1})["count"] == 1


def counted(executed: list[str]) -> list[str]:
    """The statements that count rows of tenants."""
    return [sql for sql in executed if re.search(r"count\(\*\) AS \w+\s+FROM tenancy_tenant", sql)]


@pytest.mark.usefixtures("long_lists")
def test_a_filtered_list_is_counted_again_after_a_change_only(service: Service, api: Api, unique: Unique) -> None:
    with service.statements() as executed:
        count = api.get(TENANTS, PAGE | FILTERED)["count"]
    assert not counted(executed)
    created = api.post(TENANTS, {"name": unique()})
    with service.statements() as executed:
        assert api.get(TENANTS, PAGE | FILTERED)["count"] == count + 1
    assert len(counted(executed)) == 1
    number_changes(service.engine, service.registry)
    api.patch(created["url"], {"comments": "changed"})
    assert api.get(TENANTS, PAGE | FILTERED)["count"] == count + 1
    assert api.get(TENANTS, PAGE | {"name__n": created["name"]})["count"] == count


@pytest.mark.usefixtures("long_lists")
def test_the_kept_count_of_a_filter_is_of_these_values_and_this_user(
    service: Service, api: Api, unique: Unique
) -> None:
    names = [f"{unique()} {number}" for number in range(3)]
    api.post(TENANTS, [{"name": name} for name in names])
    number_changes(service.engine, service.registry)
    limited = service.user(("view", "tenancy.tenant", {"name__in": names})).api
    number_changes(service.engine, service.registry)
    for _ in range(3):
        assert limited.get(TENANTS, PAGE)["count"] == 3
        assert limited.get(TENANTS, PAGE | {"name__n": names[0]})["count"] == 2
        assert api.get(TENANTS, PAGE | {"name": names[:2]})["count"] == 2
        assert api.get(TENANTS, PAGE | FILTERED)["count"] == whole(api, TENANTS)


@pytest.mark.usefixtures("long_lists")
def test_counts_of_many_filters_are_not_kept(monkeypatch: pytest.MonkeyPatch, service: Service, api: Api) -> None:
    monkeypatch.setattr(counts, "MAX_COUNTS", 3)
    forget_counts(monkeypatch, service)
    for number in range(5):
        api.get(TENANTS, PAGE | {"name__n": f"name {number}"})
    assert len(counts.counts_of(service.registry).lists) == 3


@pytest.fixture
def named(api: Api, unique: Unique) -> dict[str, str]:
    """A filter that five tenants pass."""
    word = unique()
    api.post(TENANTS, [{"name": f"{word} {number}"} for number in range(5)])
    return {"name__ic": word}


@pytest.mark.parametrize("asked", [{}, {"count": "estimate"}])
def test_a_filtered_list_is_counted_up_to_a_limit(
    service: Service, api: Api, named: dict[str, str], asked: dict[str, str]
) -> None:
    """Beyond it the number is an estimate of PostgreSQL; other databases count."""
    with service.configured(exact_count_limit=5):
        assert api.get(TENANTS, named | PAGE | asked)["count"] == 5
    with service.configured(exact_count_limit=2):
        page = api.get(TENANTS, named | PAGE | asked)
        assert page["count"] >= 3 if service.registry.dialect == "postgresql" else page["count"] == 5
        assert [len(page["results"]), page["next"] is None, page["previous"]] == [1, False, None]
        assert api.get(TENANTS, named | PAGE | {"count": "exact"})["count"] == 5
        assert api.get(TENANTS, named | PAGE | {"offset": 4} | asked)["count"] == 5
        assert api.get(TENANTS, named | PAGE | {"cursor": ""})["count"] is None
    assert api.get(TENANTS, named | PAGE)["count"] == 5


def test_a_limit_of_exact_counts_takes_no_further_statement_where_it_is_not_reached(
    service: Service, api: Api, named: dict[str, str]
) -> None:
    with service.statements() as executed:
        api.get(TENANTS, named | PAGE)
    with service.configured(exact_count_limit=5), service.statements() as bounded:
        api.get(TENANTS, named | PAGE)
    assert len(bounded) == len(executed)
