"""Configuration that is not committed yet is seen by its own transaction alone: it may be rolled back."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from netinv_core.uow import UnitOfWork
from netinv_testing import Case, Service, Unique

RULES, SITES = "/api/extras/validation-rules/", "/api/dcim/sites/"


def test_a_rule_that_was_refused_after_it_was_written_judges_nothing(service: Service, unique: Unique) -> None:
    """It is outside of what the user may add, which the service finds once the row is there."""
    name = unique()
    author = service.user(("add view", "extras.validationrule", {"name": "another"})).api
    body = {"name": name, "content_type": "dcim.site", "requires": {"name": "another"}, "message": name}
    author.post(RULES, body, status=403)
    service.api.post(SITES, {"name": name, "status": "active"})


@pytest.mark.any_database
def test_no_write_of_configuration_fills_the_cache_of_the_process(service: Service) -> None:
    """Each resource of configuration: objects of it are made, changed and deleted, with an empty cache before."""
    kept: list[str] = []
    changed: list[Any] = []  # sessions, which live as long as the list: no other has their id
    execute, cached_config = UnitOfWork.execute, UnitOfWork.cached_config

    def execute_noting(uow: Any, statement: Any, *arguments: Any, **options: Any) -> Any:
        if statement.is_dml and statement.table in tables:
            changed.append(uow.session)
        return execute(uow, statement, *arguments, **options)

    def cached_config_noting(uow: Any, name: Any, load: Any) -> Any:
        names = set(service.registry._cached[1])
        value = cached_config(uow, name, load)
        is_new = name in service.registry._cached[1] and name not in names
        if is_new and any(session is uow.session for session in changed):
            kept.append(f"{endpoint.label}: {name}")
        return value

    endpoints = [item for item in service.registry.endpoints.values() if item.resource.configuration]
    assert len(endpoints) > 15
    for endpoint in endpoints:
        if endpoint.resource.writes < {"add", "change", "delete"}:
            continue
        tables = {endpoint.table, *(getattr(field, "table", None) for field in endpoint.fields.values())}
        case = Case(service, endpoint.label)
        bodies = [case.body(), case.body()]
        with (
            mock.patch.object(UnitOfWork, "execute", execute_noting),
            mock.patch.object(UnitOfWork, "cached_config", cached_config_noting),
        ):
            made = [service.api.post(endpoint.path, body) for body in bodies]
            changed.clear()
            service.api.send("PUT", case.at(made[0]), bodies[1] | {"name": f"{made[0].get('name')}x"})
            changed.clear()
            for item in made:
                service.api.send("DELETE", case.at(item))
            changed.clear()
    assert kept == []
