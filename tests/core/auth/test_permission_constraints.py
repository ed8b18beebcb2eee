"""Permissions of every route that is not plain reading and writing of objects: the actions of all installed packages,
by table.

Packages register actions, so a new action fails the completeness test until the table says which permission it takes.
"""

from __future__ import annotations

from typing import Any

import pytest
from pyramid.interfaces import IRoutesMapper
from sqlalchemy.engine import Engine

from netinv_core.endpoint import Endpoint
from netinv_core.http.actions import ActionRoute, actions_of
from netinv_core.packages import discover
from netinv_testing import Api, Case, Service
from tests.support.action_permissions import CLASS, NEEDS, READS
from tests.support.inputs import Inputs

pytestmark = pytest.mark.any_database  # routes; the contract tests the SQL of constraints

DENIED = {"detail": "You do not have permission to perform this action."}
NOT_FOUND = {"detail": "Not found."}
NOT_GIVEN = {"detail": "Authentication credentials were not provided."}
EVERY = frozenset({"view", "add", "change", "delete", "run", "approve"})
Call = tuple[Endpoint, ActionRoute, str]


def name_of(call: Call) -> str:
    """The name of a call in the table."""
    endpoint, action, method = call
    own, common = (f"{resource}/{action.name} {method}" for resource in (endpoint.resource.name, "*"))
    return common if common in NEEDS else own


def calls(service: Service) -> list[Call]:
    """Each method of each action of each resource that has it."""
    found = actions_of(service.app.registry)
    return [
        (endpoint, action, method.upper())
        for action in found
        for endpoint in action.endpoints(service.registry)
        for method in sorted(action.views)
    ]


def installed(service: Service, name: str) -> bool:
    """True for an entry of the table whose resource is there: that of the example plugin may be absent."""
    return name.startswith("*/") or any(name.startswith(f"{resource}/") for _, resource in service.registry.by_path)


def paths(case: Case, action: ActionRoute, shown: dict[str, Any]) -> tuple[str, str]:
    """The path of an action for an object, and for one that there is not; the same for an action without an object."""
    if not action.on_list:
        return f"{case.at(shown)}{action.name}/", f"{case.path}{case.nobody()}/{action.name}/"
    if CLASS not in action.name:
        return (f"{case.path}{action.name}/",) * 2
    named = "/".join(("local", "examples", shown["job_class_name"]))
    return (
        f"{case.path}{action.name.replace(CLASS, named)}/",
        f"{case.path}{action.name.replace(CLASS, 'local/examples/Nothing')}/",
    )


def everything_else(service: Service, label: str) -> tuple[str, list[str]]:
    """Every action on all other models."""
    return " ".join(sorted(EVERY)), [other for other in service.registry.endpoints if other != label]


def grouped(service: Service, inputs: Inputs) -> list[tuple[Case, str, list[Call]]]:
    """The calls by resource and permission; of actions that any resource may have, those of one resource of each
    package, unless all inputs are used.
    """
    groups: dict[tuple[str, str], list[Call]] = {}
    packages: set[tuple[str, str]] = set()
    for call in calls(service):
        name, (endpoint, action, _) = name_of(call), call
        needed = NEEDS[name]
        if name.startswith("*/") and inputs.amount != "all" and (endpoint.label, needed) not in groups:
            if (name, action.app.name) in packages:
                continue
            packages.add((name, action.app.name))
        groups.setdefault((endpoint.label, needed), []).append(call)
    return [(Case(service, label), needed, found) for (label, needed), found in groups.items()]


def send(client: Api, method: str, path: str) -> tuple[int, Any]:
    """The answer to a request, with an empty object as its body."""
    answer = client.send(method, path, *([{}] if method == "POST" else []))
    return answer.status_int, answer.json


def test_the_table_names_every_action(service: Service) -> None:
    registered = {name_of(call) for call in calls(service)}
    assert registered == {name for name in NEEDS if installed(service, name)}


@pytest.mark.parametrize("part", range(4))
@pytest.mark.night
def test_actions_are_denied_without_their_permission(service: Service, inputs: Inputs, part: int) -> None:
    """403 without credentials and with every permission but the one that the action takes, for objects that are there
    or not.
    """
    for case, needed, group in grouped(service, inputs)[part::4]:
        label, others = case.endpoint.label, " ".join(sorted(EVERY - {needed}))
        powerless, shown = service.user(everything_else(service, label), (others, label)).api, case.make()
        for _, action, method in group:
            for path in paths(case, action, shown):
                assert send(service.anonymous, method, path) == (403, NOT_GIVEN), f"{method} {path}"
                assert send(powerless, method, path) == (403, DENIED), f"{method} {path}"


@pytest.mark.parametrize("part", range(4))
@pytest.mark.night
def test_actions_on_objects_outside_of_a_constraint_are_like_those_on_absent_ones(
    service: Service, inputs: Inputs, part: int
) -> None:
    """404, whatever else the user may do; without permission to view the resource too.

    Who may view the object, but not run that job, is told so.
    """
    for case, needed, group in grouped(service, inputs)[part::4]:
        label, elsewhere, shown = case.endpoint.label, {"id": case.nobody()}, case.make()
        rest, others = everything_else(service, label), " ".join(sorted(EVERY - {needed}))
        outside = service.user(rest, (" ".join(sorted(EVERY)), label, elsewhere)).api
        unseeing = outside if needed == "view" else service.user(rest, (needed, label, elsewhere)).api
        seeing = service.user(rest, (others, label), (needed, label, elsewhere)).api
        for _, action, method in group:
            if action.on_list and CLASS not in action.name:
                continue
            hidden, absent = paths(case, action, shown)
            for client in (outside, unseeing):
                assert send(client, method, absent) == send(client, method, hidden) == (404, NOT_FOUND), (
                    f"{method} {hidden}"
                )
            assert send(seeing, method, hidden) == ((403, DENIED) if needed == "run" else (404, NOT_FOUND)), (
                f"{method} {hidden}"
            )


@pytest.mark.night
def test_no_action_writes_for_a_read_only_token_or_without_credentials(
    service: Service, configured: Any, inputs: Inputs
) -> None:
    """Not even where everyone may view everything; a kept query only reads."""
    reader = service.user(superuser=True, write_enabled=False).api
    with configured(exempt_view_permissions=("*", *service.registry.endpoints)):
        for case, _, group in grouped(service, inputs):
            shown = case.make() if any(method != "GET" for _, _, method in group) else {}
            for call in group:
                _, action, method = call
                if method == "GET" or name_of(call) in {*READS, "graphql-queries/run POST"}:
                    continue
                path, _ = paths(case, action, shown)
                assert send(reader, method, path) == (403, DENIED), f"{method} {path}"
                assert send(service.anonymous, method, path) == (403, NOT_GIVEN), f"{method} {path}"


# Routes beside resources and their actions, with what an account without any permission is answered.
BESIDE = {
    "/health/live": 200,
    "/health/ready": 200,
    "/metrics": 200,
    "/media/{folder}/{name}": 403,
    "/api/graphql/": 200,  # every object within permissions: tests/test_graphql.py
    "/api/dcim/connected-device/": 403,
    "/api/core/filterset-fields/lookup-choices/": 403,
    "/api/core/filterset-fields/lookup-value-dom-element/": 403,
    "/api/search/": 200,
    "/api/users/config/": 200,
    "/api/status/": 200,
    "/api/plugins/installed-plugins/": 200,
    **dict.fromkeys(
        (
            "/api/swagger.json",
            "/api/swagger.yaml",
            "/api/swagger/",
            "/api/docs/",
            "/api/docs/webhooks.json",
            "api/docs/assets/*subpath",
        ),
        200,
    ),
}
QUERIES = {
    "/api/search/": "?q=site",
    "/api/dcim/connected-device/": "?peer_device=a&peer_interface=b",
    "/api/core/filterset-fields/lookup-choices/": "?content_type=dcim.site&field_name=name",
    "/api/core/filterset-fields/lookup-value-dom-element/": "?content_type=dcim.site&field_name=name",
}


@pytest.fixture
def without_pages(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service without the web interface, whose pages have tests of their own."""
    modules, broken = discover()
    packages = ([(name, module) for name, module in modules if name != "web"], broken)
    monkeypatch.setattr("netinv_core.main.discover", lambda plugins_dir="": packages)
    return Service(engine)


def test_the_table_names_every_other_route(without_pages: Service) -> None:
    """A route is an application's list of resources, a service of Cornice (a resource), an action, or in the table."""
    service = without_pages
    patterns = {
        route.pattern for route in service.app.registry.queryUtility(IRoutesMapper).get_routes(include_static=True)
    }
    served = {found.path for found in service.app.registry.cornice_services.values()}
    served |= {action.path for action in actions_of(service.app.registry)}
    roots = {"/api/", "/api/plugins/", *(app.path for app in service.registry.apps.values() if app.rooted)}
    assert patterns - served - roots == BESIDE.keys()


@pytest.mark.night
def test_other_routes_show_no_object_to_who_has_no_permission(service: Service) -> None:
    site, nobody = Case(service, "dcim.site").make(), service.user().api
    for pattern, status in BESIDE.items():
        path = f"/{pattern.lstrip('/')}{QUERIES.get(pattern, '')}".replace("{folder}", "devicetype-images").replace(
            "{name}", "a.png"
        )
        path = path.replace("*subpath", "swagger-ui.css")
        if pattern == "/api/graphql/":
            assert nobody.post(path, {"query": "{sites{name}}"}, status=status) == {"data": {"sites": []}}
        else:
            assert site["name"] not in nobody.send("GET", path, version=None, status=status).text, path
