"""Bodies with one wrong field, for every model: POST (many in one bulk request), PATCH and PUT."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from compare.pair import Pair
from compare.script import Request, Scenario
from compare.service import NOWHERE, Answer

MISSING: Any = object()
EXAMPLE = re.compile(r"\b(?:Ex|EX|ex)(?=[\b _0-9A-Z-]|[a-z0-9]*\Z)")
BATCH = 40
ALONE = "one at a time"
REFUSED = "not an object"  # the first item of every bulk request, so that nothing is created
SINGLE: list[Any] = [None, "", "zz", NOWHERE, {}, -1]
TEXTS = ["", " ", "zz", "x" * 400, "Ünï!", "12", "a.b", NOWHERE]
DOCUMENTS: list[Any] = [None, {}, {"no such": "zz"}, {"no such": {}}]
VALUES: list[Any] = [
    MISSING,
    None,
    *TEXTS,
    -1,
    0,
    1.5,
    99999999999,
    True,
    [],
    ["zz"],
    [None],
    {},
    {"id": "zz"},
    {"name": "no such"},
]


def compare(pair: Pair, wanted: Callable[[str], bool], examples: Sequence[Scenario]) -> None:
    """Compares the errors of every value for every field of the examples' models."""
    for scenario in examples:
        if wanted(scenario.model):
            *needed, example = scenario.requests
            created = [request for request in needed if pair.call(request)[0].status == 201]
            _posts(pair, scenario.model, example, 1 if scenario.title == ALONE else BATCH)
            _patches(pair, scenario.model, example)
            for request in reversed(created):
                pair.call(Request("DELETE", f"{request.path}/${request.label}"))


def _fields(pair: Pair, path: str) -> dict[str, dict[str, Any]]:
    """The writable fields of the first service's OPTIONS, with their descriptions."""
    described = pair.first.raw("OPTIONS", path).json().get("actions", {}).get("POST", {})
    return {name: field for name, field in described.items() if not field.get("read_only")}


def _posts(pair: Pair, model: str, example: Request, batch: int) -> None:
    cases = [(field, body) for field, body in _wrong(example.body, _fields(pair, example.path))]
    for start in range(0, len(cases), batch):
        _bulk(pair, model, example.path, cases[start : start + batch])


def _wrong(body: dict[str, Any], fields: dict[str, dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in fields.items():
        others = {key: value for key, value in body.items() if key != name}
        choices = [choice["value"] for choice in field.get("choices") or []] if field.get("type") == "choice" else []
        values = DOCUMENTS if name in ("custom_fields", "relationships") else VALUES
        for value in [*values, *choices[:20]]:
            yield name, others if value is MISSING else {**others, name: value}


def _numbered(body: dict[str, Any], number: int, kept: str) -> dict[str, Any]:
    """The body with another name: within a bulk request no two are the same. The wrong field is left as it is."""
    return {
        key: EXAMPLE.sub(rf"\g<0>{number}", value) if isinstance(value, str) and key != kept else value
        for key, value in body.items()
    }


def _bulk(pair: Pair, model: str, path: str, cases: list[tuple[str, dict[str, Any]]]) -> None:
    """Sends the bodies as one bulk request that cannot succeed, and compares the errors of each item; in halves after a
    5xx.
    """
    items = [_numbered(body, number, name) for number, (name, body) in enumerate(cases)]
    first, second = pair.call(Request("POST", path, [REFUSED, *items]))
    if (
        isinstance(first.body, list)
        and isinstance(second.body, list)
        and len(first.body) == len(second.body) == len(cases) + 1
    ):
        for number, (name, body) in enumerate(cases, 1):
            item = Request("POST", path, _only(name, body))
            pair.note(
                "bodies", model, f"POST {name}", item, Answer(400, first.body[number]), Answer(400, second.body[number])
            )
    elif len(cases) > 1:
        half = len(cases) // 2
        _bulk(pair, model, path, cases[:half])
        _bulk(pair, model, path, cases[half:])
    else:
        pair.note("bodies", model, f"POST {cases[0][0]}", Request("POST", path, _only(*cases[0])), first, second)


def _only(name: str, body: dict[str, Any]) -> dict[str, Any]:
    """The part of a body that a report shows: the field that is wrong."""
    return {name: body[name]} if name in body else {"(without)": name}


def _patches(pair: Pair, model: str, example: Request) -> None:
    """PATCH of one field at a time, and an empty PUT, on an object made of the example."""
    target = Request("POST", example.path, example.body, "target")
    first, second = pair.compare("bodies", model, "POST", target)
    if first.status != 201 or second.status != 201:
        return
    path = f"{example.path}/$target"
    pair.compare("bodies", model, "PUT", Request("PUT", path, {}))
    pair.compare("bodies", model, "PUT", Request("PUT", path, example.body))
    for name in _fields(pair, example.path):
        for value in SINGLE:
            answers = pair.compare("bodies", model, f"PATCH {name}", Request("PATCH", path, {name: value}))
            if any(answer.status == 200 for answer in answers):
                pair.call(Request("DELETE", path))
                pair.call(target)
    pair.call(Request("DELETE", path))
    for service in (pair.first, pair.second):
        service.unbind("target")
