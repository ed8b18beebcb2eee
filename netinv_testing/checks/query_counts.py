"""Budgets: how many SQL statements a request may take, authentication included, however many objects it touches."""

from __future__ import annotations

from netinv_testing.cases import Case, check, writable

DETAIL, LIST, CREATE_ONE, CREATE_MANY = 6, 8, 20, 60
CONFIGURATION = 4  # more for configuration, whose change has what is cached of others read anew, as far as there is any


@check(reads=True)
def a_detail_is_within_its_budget(case: Case) -> None:
    """For an object with every field filled, in the full and the brief form."""
    item = case.filled()
    for query in ({}, {"brief": 1}):
        with case.service.statements() as result:
            case.api.get(case.at(item), query)
        assert len(result) <= DETAIL, "\n".join(result)


@check(reads=True)
def a_list_is_within_its_budget(case: Case) -> None:
    """For pages of 1, 50 and 1000, filled objects among them; as many statements for few objects as for many."""
    created = [case.filled(), *case.make_many(20 if case.endpoint.resource.writable else 2)]
    for limit in (1, 50, 1000):
        with case.service.statements() as result:
            case.api.get(case.path, {"limit": limit})
        assert len(result) <= LIST, "\n".join(result)
    if not case.endpoint.resource.writable:
        return
    few, many = created[:1], created
    with case.service.statements() as for_few:
        case.list_of(few, limit=1000)
    with case.service.statements() as for_many:
        case.list_of(many, limit=1000)
    assert len(for_few) == len(for_many), "\n".join(for_many)


@check(writable)
def creating_is_within_its_budget(case: Case) -> None:
    """One object, and a lot of them in one request."""
    one, lot = case.body(), [case.body() for _ in range(case.many)]
    more = CONFIGURATION if case.endpoint.resource.configuration else 0
    with case.service.statements() as for_one:
        case.api.post(case.path, one)
    assert len(for_one) <= CREATE_ONE + more, "\n".join(for_one)
    with case.service.statements() as for_many:
        case.api.post(case.path, lot)
    assert len(for_many) <= CREATE_MANY + more, "\n".join(for_many)


@check(writable)
def changing_and_deleting_do_not_grow(case: Case) -> None:
    """Bulk PATCH and DELETE of many take no more statements than of a few."""
    few, many = case.make_many(2), case.make_many(20)
    counts = {}
    for name, objects in (("few", few), ("many", many)):
        items = [{"id": item["id"], "description": case.unique()} for item in objects]
        case.api.get(case.path, {"limit": 1})  # what the process caches is cached
        with case.service.statements() as patched:
            case.api.patch(case.path, items)
        with case.service.statements() as deleted:
            case.api.delete(case.path, [{"id": item["id"]} for item in objects])
        counts[name] = (len(patched), len(deleted))
    assert counts["many"] <= counts["few"], counts
