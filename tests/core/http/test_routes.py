"""Every route of the service, those of no resource too, with bad input: a status below 500, whatever is sent."""

from __future__ import annotations

import random
import re
from typing import Any
from urllib.parse import quote

import pytest
from pyramid.interfaces import IRoutesMapper

from netinv_testing import Service
from netinv_testing.bad_input import BODIES, HEADERS, QUERIES, VALUES
from netinv_testing.checks.fuzzing import ANY, METHODS, TEXTS
from tests.support.inputs import Inputs

GRAPHQL = (
    *(
        "{",
        "}",
        "query",
        "{sites{",
        "{sites(limit:-1){name}}",
        "{__schema{types{name}}}",
        "{sites{name ...a}} fragment a on b{c}",
    ),
    '{sites(name:["' + "a" * 3000 + '"]){name}}',
)
MEMBERS = ("query", "variables", "operationName", "username", "password", "content_type", "field_name", "theme", "key")


def _routes(service: Service) -> dict[str, str]:
    """The path patterns of every route by name."""
    mapper = service.app.registry.queryUtility(IRoutesMapper)
    return {route.name: route.pattern for route in mapper.get_routes(include_static=True)}


def _words(service: Service) -> list[str]:
    """Texts that some placeholder of a path takes: names of resources and of folders of files, and an id."""
    return [*{name for _, name in service.registry.by_path}, *service.app.registry.netinv_holders, service.admin.id]


def _input(choose: random.Random) -> tuple[Any, dict[str, str]]:
    """A body, as bytes or as a JSON value, and headers."""
    members = {choose.choice(MEMBERS): choose.choice((*VALUES, *GRAPHQL)) for _ in range(2)}
    body = choose.choice((members, members, choose.choice(VALUES), choose.choice(BODIES)))
    return body, choose.choice((*HEADERS, {}, {}, {}))


@pytest.mark.parametrize("part", range(4))
def test_no_route_fails_on_bad_input(service: Service, inputs: Inputs, part: int) -> None:
    """Placeholders of the paths get bad text; methods, queries, headers and bodies are random; with and without
    credentials.
    """
    failures, words = [], sorted(_words(service))
    for name, pattern in sorted(_routes(service).items())[part::4]:
        choose = random.Random(f"{name} {inputs.seed}")
        for _ in range(inputs.random_requests // 6):
            parts = [
                choose.choice(choose.choice((TEXTS, words))) for _ in range(pattern.count("{") + pattern.count("*"))
            ]
            path = re.sub(
                r"\{[^}]*\}|\*\w+", lambda _, parts=parts: quote(parts.pop(), safe=""), f"/{pattern.lstrip('/')}"
            )
            body, headers = _input(choose)
            query = choose.choice(("", f"?{quote(choose.choice(QUERIES), safe='=&;%?#[]')}"))
            api, method = (
                choose.choice((service.api, service.api, service.anonymous)),
                choose.choice((*METHODS, "TRACE", "PROPFIND")),
            )
            response = api.send(method, path + query, body, headers=headers, status=ANY)
            if response.status_int >= 500:
                failures.append(f"{name}: {method} {path}{query} {body!r:.300} {headers} → {response.status}")
    assert not failures, "\n".join(failures)
