"""Plugins that fail in a request in a way that they did not foresee: the answer and the log name the plugin, what the
request had changed is undone, and requests that do not need the plugin are answered.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service

pytestmark = pytest.mark.any_database
CODE = '''
import asyncio

import sqlalchemy as sa
from cornice import Service

from netinv_core import (
    API_ACCESS, App, ChangeGuard, Filter, GenericCascade, ListFormat, batch_loaded, computed, dry_run, filters, hookimpl, table_of,
    User,
)
from netinv_core.auth.providers import IdentityProvider

FAULT = ""  # the place that fails


ENDS = (SystemExit, GeneratorExit, asyncio.CancelledError, type("End", (BaseException,), {}))


class Strange:
    """Something that is no value of JSON."""


def meet(place, result=None, wrong=None):
    """Fails at the place of the fault; the result otherwise, or a wrong one."""
    if place == FAULT:
        raise ZeroDivisionError("the plugin divides by zero")
    if f"{place} ends" == FAULT:
        raise ENDS[len(place) % len(ENDS)]("the plugin is at an end")
    return wrong if f"{place} result" == FAULT else result


def end_by_hand(uow):
    """Ends the session as the fault says: what the request has written would be lost, or stay though it fails."""
    method, _, rest = FAULT.partition(" ")
    if rest == "by hand":
        getattr(uow.session, method)()
    if rest == "of the connection":
        getattr(uow.connection, method)()
    return {}


FUNCTIONS = {}


def named(place, result=None, wrong=None):
    def function(*arguments, met=(place, result, wrong)):
        return meet(*met)

    return FUNCTIONS.setdefault(place, function)


number = type("Number", (), {"__call__": named("callable object")})()


def on_tenants(endpoint, *declared):
    return list(declared) if endpoint.label == "tenancy.tenant" else []


@hookimpl
def netinv_fields(registry, endpoint):
    return on_tenants(
        endpoint,
        computed("faulty_name", named("computed field", "x", Strange()), "name"),
        computed("faulty_number", number, "name"),
        computed("faulty_sum", sum, "description"),
        batch_loaded("faulty_end", lambda uow, keys: end_by_hand(uow), openapi={"type": "string"}, nullable=True),
        batch_loaded("faulty_load", named("loaded field", {}, 7), openapi={"type": "string"}, nullable=True),
    )


@hookimpl
def netinv_filters(registry, endpoint):
    condition = endpoint.table.c.id.is_not(None)
    malformed = sa.func.json_extract(sa.func.lower("{"), "$") == "1"  # which fails when rows are read
    unknown, order = sa.literal_column("nowhere_at_all"), named("order", sa.literal(1), sa.literal_column("nowhere_at_all"))
    return on_tenants(
        endpoint,
        filters.custom("faulty", named("filter", condition, "id IS NULL")),
        filters.custom("faulty_rows", named("condition of rows", condition, malformed)),
        filters.custom("faulty_sql", named("condition", condition, unknown == 1), sort_by=order),
    )


@hookimpl
def netinv_dynamic_filters(uow, endpoint):
    return {"faulty_dynamic": filters.custom("faulty_dynamic", named("dynamic filter"))}


@hookimpl
def netinv_document_members(uow, endpoint):
    return meet("document members", {}, 7)


@hookimpl
def netinv_preparations(registry, endpoint):
    return on_tenants(endpoint, named("preparation"))


def write_values(uow, drafts):
    for draft in drafts:
        draft.values["description"] = meet("value of a rule", draft.values.get("description", ""), 5)
        draft.values["name"] = meet("null of a rule", draft.values.get("name", draft.before.get("name")), None)
        draft.values |= meet("column of a rule", {}, {"nowhere": 1})
        if meet("message of a rule", False, True):
            draft.reject("name", 7)


@hookimpl
def netinv_rules(registry, endpoint):
    return on_tenants(endpoint, named("rule"), write_values)


@hookimpl
def netinv_change_guards(registry):
    return [ChangeGuard(look=named("look of a guard"), check=named("check of a guard", {}))]


@hookimpl
def netinv_change_inserts(uow, changes):
    return meet("related inserts", [], ["x"])


@hookimpl
def netinv_changes_recorded(uow, changes):
    meet("recorded changes")
    end_by_hand(uow)


@hookimpl
def netinv_change_effects(uow, changes):
    return meet("effects", {}, {"mails": 7})


@hookimpl
def netinv_reverted(uow, changes):
    meet("undo")


@hookimpl
def netinv_generic_cascades(registry):
    return [GenericCascade(table_of(User), "username", "id", label="users.user", applies=named("cascade", False))]


@hookimpl
def netinv_list_formats(registry):
    return [ListFormat("faulty_format", named("list format"))]


@hookimpl
def netinv_identity_providers(registry):
    return [IdentityProvider("faulty", check_password=named("identity provider"))]


sums = Service(name="sums", path="/api/plugins/faulty/sums/", permission=API_ACCESS, description="Sums")


@sums.get()
def read_sum(request):
    """Reads a sum."""
    request.response.headers["X-Sum"] = meet("header", "1", "1\\r\\nX-Other: 2")
    return meet("view", {"sum": 1}, {"sum": Strange()})


def slow_tween(handler, registry):
    def tween(request):
        meet("tween")
        return meet("answer of a tween", handler(request), "no response")

    return tween


def includeme(config):
    config.add_cornice_service(sums)
    config.add_tween(f"{__name__}.slow_tween")


@hookimpl
def netinv_app():
    return App("faulty", "Faulty", plugin=True, includes=[__name__])
'''
PARAMETERS = " parameters"
TENANTS, PERMISSIONS, SUMS = "/api/tenancy/tenants/", "/api/users/permissions/", "/api/plugins/faulty/sums/"
LOG = "/api/extras/object-changes/"


@dataclasses.dataclass(frozen=True)
class Met:
    """A request that meets a fault. ``{id}`` and ``{change}`` in a path are those of a tenant and of its creation."""

    method: str
    path: str
    body: dict[str, Any] = dataclasses.field(default_factory=dict)
    query: dict[str, str] = dataclasses.field(default_factory=dict)


READ = Met("GET", TENANTS)
CREATION = Met("POST", TENANTS, {"name": "{new}"})
MEMBERS = Met(
    "POST",
    PERMISSIONS,
    {
        "name": "{new}",
        "object_types": ["tenancy.tenant"],
        "actions": ["view"],
        "constraints": {"_custom_field_data__x": "y"},
    },
)
CALLED_BY_NAME = ("document members", "related inserts", "recorded changes", "effects", "undo", "view", "tween")
FAULTS = {
    "computed field": READ,
    "computed field result": READ,
    "computed field result ": Met("POST", "/api/graphql/", {"query": "{ tenants { other: faulty_name } }"}),
    "computed field result  ": Met("PATCH", f"{TENANTS}{{id}}/", {"description": "new"}),
    "loaded field": READ,
    "loaded field result": READ,
    "filter": Met("GET", TENANTS, query={"faulty": "x"}),
    "filter result": Met("GET", TENANTS, query={"faulty": "x"}),
    "condition result": Met("GET", TENANTS, query={"faulty_sql": "x"}),
    "condition of rows result": Met("GET", TENANTS, query={"faulty_rows": "x"}),
    "order": Met("GET", TENANTS, query={"ordering": "faulty_sql"}),
    "order result": Met("GET", TENANTS, query={"ordering": "-faulty_sql"}),
    "dynamic filter": Met("GET", TENANTS, query={"faulty_dynamic": "x"}),
    "list format": Met("GET", TENANTS, query={"faulty_format": "x"}),
    "document members": MEMBERS,
    "document members result": MEMBERS,
    "preparation": CREATION,
    "rule": CREATION,
    "look of a guard": Met("PATCH", f"{TENANTS}{{id}}/", {"description": "new"}),
    "check of a guard": CREATION,
    "related inserts": CREATION,
    "related inserts result": CREATION,
    "recorded changes": CREATION,
    "effects": Met("POST", TENANTS, {"name": "{new}"}, {"dry_run": "true"}),
    "effects result": Met("POST", TENANTS, {"name": "{new}"}, {"dry_run": "true"}),
    "undo": Met("POST", f"{LOG}{{change}}/revert/"),
    "cascade": Met("DELETE", f"{TENANTS}{{id}}/"),
    "view": Met("GET", SUMS),
    "view result": Met("GET", SUMS),
    "tween": READ,
    "answer of a tween result": Met("GET", SUMS),
    **{f"{what} of a rule result": CREATION for what in ("value", "null", "column", "message")},
}
# Functions that take no parameters, in place of those that the faults have. A dynamic filter with such a function is
# refused when it is declared, so that it is left out.
FAULTS |= {
    f"{place}{PARAMETERS}": met
    for place, met in [*FAULTS.items(), ("callable object", READ)]
    if not place.strip().endswith("result") and place not in ("dynamic filter", *CALLED_BY_NAME)
}
# What is no ``Exception`` would end the thread of the request, without an answer.
FAULTS |= {
    f"{place} ends": met
    for place, met in FAULTS.items()
    if not place.strip().endswith(("result", PARAMETERS)) and place != "dynamic filter"
}
FAULTS["header result"] = Met("GET", SUMS)
ENDED = ("rollback", "commit", "close", "reset", "invalidate")
FAULTS |= {f"{method} by hand": CREATION for method in ENDED} | {f"{method} by hand ": READ for method in ENDED}
FAULTS |= {f"{method} of the connection": CREATION for method in ("commit", "rollback", "detach")}
FAULTS["built-in function"] = Met("PATCH", f"{TENANTS}{{id}}/", {"description": "new"})
FAILED = "The package faulty failed, so that this request could not be answered"


@pytest.fixture(scope="module")
def faulty_service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with the plugin, whose module is forgotten afterwards."""
    folder = tmp_path_factory.mktemp("plugins")
    (folder / "faulty.py").write_text(CODE)
    service = Service(engine, {"netinv.plugins_dir": str(folder), "netinv.package_failures": "0"})
    assert service.registry.broken == []
    yield service
    del sys.modules[f"{FILE_PREFIX}faulty"]


@pytest.fixture
def faulty(faulty_service: Service, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that names the place which fails from now on."""
    module: ModuleType = sys.modules[f"{FILE_PREFIX}faulty"]

    def fail(place: str) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(module, "FAULT", place.strip())
        if place.endswith(PARAMETERS):
            function = module.FUNCTIONS[place.removesuffix(PARAMETERS)]
            monkeypatch.setattr(function, "__code__", without_parameters.__code__)

    return fail


def without_parameters() -> None:
    """A function whose signature is none that anything calls."""


def filled(text: Any, values: dict[str, str]) -> Any:
    """A body or path with values in place of their names."""
    if isinstance(text, dict):
        return {name: filled(value, values) for name, value in text.items()}
    for name, value in values.items() if isinstance(text, str) else ():
        text = text.replace(f"{{{name}}}", value)
    return text


@pytest.mark.parametrize("place", FAULTS)
def test_the_answer_and_the_log_name_the_plugin_and_nothing_is_written(
    faulty_service: Service, faulty: Any, caplog: pytest.LogCaptureFixture, place: str
) -> None:
    api, met, name = faulty_service.api, FAULTS[place], faulty_service.unique()
    tenant = api.post(TENANTS, {"name": name})
    change = api.get(LOG, {"changed_object_id": tenant["id"]})["results"][0]
    values = {"id": tenant["id"], "change": change["id"], "new": f"{name} new"}
    faulty(place)
    path, body = filled(met.path, values), filled(met.body, values)
    if met.query:
        path += "?" + "&".join(f"{name}={value}" for name, value in met.query.items())
    answer = api.send(met.method, path, body or None, status=503, headers={"Accept": "application/problem+json"})
    assert (answer.json["code"], answer.json["detail"][: len(FAILED)]) == ("package_failed", FAILED)
    request = answer.headers["X-Request-ID"]
    assert request in answer.json["detail"]
    (record,) = [item for item in caplog.records if request in item.getMessage() and item.exc_info]
    assert " failed" in record.getMessage() and " in the package faulty " in record.getMessage()
    faulty("")
    kept = api.get(TENANTS, {"name__isw": name})["results"]
    assert [(item["id"], item["last_updated"]) for item in kept] == [(tenant["id"], tenant["last_updated"])]
    assert api.get(LOG, {"request_id": request})["count"] == 0
    assert api.get(PERMISSIONS, {"name__isw": name})["count"] == 0
