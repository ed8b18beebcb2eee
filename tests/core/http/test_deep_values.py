"""JSON that nests deep, wherever a request may have JSON: it leads to no error of the server, in little time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from netinv_testing import Api
from netinv_testing.hangs import no_hang

LEVELS = (101, 253, 900, 1100, 60_000)
PATHS = ("/api/dcim/sites/", "/api/graphql/", "/api/extras/plans/")


def lists(levels: int) -> str:
    """Lists in lists."""
    return "[" * levels + "]" * levels


def objects(levels: int) -> str:
    """Objects in objects."""
    return '{"a":' * levels + "1" + "}" * levels


def texts() -> Iterator[str]:
    """Deep values, and those without an end."""
    for levels in LEVELS:
        yield from (lists(levels), objects(levels), "[" * levels, '{"a":' * levels)


TEXTS = list(texts())


def sent(api: Api, method: str, path: str, body: str, media_type: str = "application/json") -> Any:
    """The answer to a body, with a bound of time."""
    with no_hang(body):
        return api.send(method, path, body.encode(), headers={"Content-Type": media_type})


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml", "text/csv"])
@pytest.mark.night
def test_a_body_that_nests_deep_is_refused(api: Api, media_type: str) -> None:
    for path, text in product(PATHS, TEXTS):
        for body in (text, f'{{"name": {text}}}', f'[{{"name": {text}}}]'):
            assert 400 <= sent(api, "POST", path, body, media_type).status_int < 500


def test_variables_of_graphql_that_nest_deep_are_refused(api: Api) -> None:
    query = "query($n: [String]) {sites(name: $n) {name}}"
    for text in TEXTS:
        quoted = text.replace('"', '\\"')
        for variables in (f'"{quoted}"', f'{{"n": {text}}}', f'"{{\\"n\\": {quoted}}}"'):
            answer = sent(api, "POST", "/api/graphql/", f'{{"query": "{query}", "variables": {variables}}}')
            assert answer.status_int == 400


def test_queries_of_graphql_that_nest_deep_are_no_error_of_the_server(api: Api) -> None:
    for levels in LEVELS:
        opened, closed = "[" * levels, "]" * levels
        for query in (
            f"{{sites(name: {opened}{closed}) {{name}}}}",
            f"{{sites(name: {'{a:' * levels}1{'}' * levels}) {{name}}}}",
            "{a" * levels,
            f"{'{sites' * levels}{'}' * levels}",
            f"query($n: {opened}String{closed}) {{sites(name: $n) {{name}}}}",
            "{... " * levels,
        ):
            assert sent(api, "POST", "/api/graphql/", f'{{"query": "{query}"}}').status_int < 500
