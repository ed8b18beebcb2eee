"""Hostile values for every field: texts of a megabyte, and JSON that is deep, huge or no text. Each is stored or
refused with the field's name, in little time, and what is stored can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from netinv_core import fields
from netinv_testing.cases import Case, check
from netinv_testing.hangs import no_hang

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MEGABYTE = 1_000_000
MAX = 150  # requests for a resource, drawn by the seed
ABOUT_ALL = {"__all__", "non_field_errors", "detail"}
# Texts of a megabyte for which the time of a careless function grows with the square of the length.
LONG_TEXTS = ("x", "[", "9", " ", "-1", "\n", "a,", "e\u0301\u0316", "\ufdfa", "\u202e", ":", "1.", "{{", "http://[")
SHORT_TEXTS = (
    *("http://[", "http://\u2100x/", "javascript:alert(1)", "\u202eabc\u2066", "\ufeff", "\U000e0001", "\uffff"),
    *("a\x00b", "a\ud800b", "9" * 400, "1e999", "-0", "0x" + "f" * 400, "٣" * 30),
)
# JSON documents as they are sent: some are no values of Python, others fail when they are written again.
DOCUMENTS = (
    "[" * 90 + "]" * 90,
    '{"a":' * 90 + "1" + "}" * 90,
    "[" * 5000 + "]" * 5000,
    "1e400",
    "-1e-400",
    "9" * 400,
    "-" + "9" * 30,
    f"[{'9' * 400}]",
    '{"a": 1e400}',
    '{"a\\ud800": 1}',
    '["\\udc00"]',
    '{"a\\u0000": ["\\u0000"]}',
    '{"url": "http://[", "display": "x", "id": 1}',
    '{"__class__": 1, "$ref": "#", "": {"": []}}',
    f"[{','.join(['{}'] * 5000)}]",
    "NaN",
)


def _has_own_writes(endpoint: Endpoint) -> bool:
    return endpoint.resource.writable and "change" in endpoint.resource.writes


def _values() -> Iterator[str]:
    """The values, as JSON."""
    for text in LONG_TEXTS:
        yield json.dumps(text * (MEGABYTE // len(text)))
    yield from (json.dumps(text) for text in SHORT_TEXTS)
    yield from DOCUMENTS


VALUES = tuple(_values())


def takes_anything(case: Case, name: str) -> bool:
    """True for a field with documents or text."""
    field = case.endpoint.writable[name]
    return isinstance(field, fields.Value) and (field.info.kind == "json" or field.python_type is str)


@check(_has_own_writes)
def hostile_values_are_stored_or_refused_by_name(case: Case) -> None:
    """Each value for each field, by PATCH: 200, 400 that names the field, or 413; what is stored is read again."""
    item = case.make()
    path = case.at(item)
    names = [name for name, field in case.endpoint.writable.items() if not isinstance(field, fields.Image)]
    case.most = min(case.most or MAX, MAX)
    for name, value in case.drawn((name, value) for name in sorted(names) for value in VALUES):
        what = f"{case.endpoint.label}.{name} {value[:60]} ({len(value)} characters)"
        with no_hang(what):
            body = f'{{"{name}": {value}}}'.encode()
            answer = case.api.send("PATCH", path, body, status=(200, 400, 409, 413))
            if answer.status_int == 400:
                told = set(answer.json) if isinstance(answer.json, dict) else set()
                assert told & {name, *ABOUT_ALL} or takes_anything(case, name), f"{what}: {answer.text[:300]}"
                assert len(answer.body) < MEGABYTE / 2, what
            elif answer.status_int == 200:
                case.api.send("GET", path, status=200)
                case.api.send("GET", case.path, query={"id": item["id"], "format": "csv"}, status=200)
    case.api.send("DELETE", path)
