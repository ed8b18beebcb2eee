"""Bodies of actions: the OpenAPI document describes those that their views read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from unittest import mock

from netinv_core.http import actions, bodies
from netinv_core.http.actions import actions_of
from netinv_core.http.versions import NEWEST
from netinv_testing.cases import Case, check
from netinv_testing.client import Service

WRITES = frozenset({"post", "put", "patch"})


def reads_body(service: Service, method: str, path: str, body: Any, **options: Any) -> bool:
    """True when the view of a request reads its body, besides the check that nothing unknown is in it.

    :param options: of :meth:`netinv_testing.client.Api.send`, such as the expected ``status``
    """
    original, read = bodies.read_content, []

    def reading(*arguments: Any) -> bytes:
        read.append(arguments)
        return original(*arguments)

    with (
        mock.patch.object(bodies, "read_content", reading),
        mock.patch.object(actions, "body_of", return_value={}),  # the check
    ):
        service.api.send(method, path, body, **options)
    return bool(read)


@check(reads=True)
def a_body_that_an_action_reads_is_described(case: Case) -> None:
    """Of each action of the resource, in a dry run: nothing is written."""
    undescribed = [
        f"{method} {path}"
        for method, path in _requests(case)
        if reads_body(case.service, method, path, {}, query={"dry_run": "true"})
        and not case.service.documented.describes_body(NEWEST, method, path)
    ]
    assert undescribed == []


def _requests(case: Case) -> Iterator[tuple[str, str]]:
    """Method and path of each request that writes below the list or an object of the resource."""
    for action in actions_of(case.service.app.registry):
        methods = sorted(action.views.keys() & WRITES)
        if methods and not action.read_only and case.endpoint in action.endpoints(case.registry):
            key = case.make()["id"] if case.endpoint.resource.writable and not action.on_list else case.nobody()
            names = dict.fromkeys(re.findall(r"{(\w+)}", action.name), "x")
            for method in methods:
                yield method.upper(), case.path + action.below.format(id=key, **names)
