"""Texts and documents of a megabyte in every field that takes them: pages, files and answers do a bounded amount of work
for them, and a page of objects that is larger than an answer may be is not read.
"""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest

from netinv_core.models.types import Json, LongText
from netinv_core.sql import stored_sizes
from netinv_testing import Samples, Service
from netinv_testing.hangs import no_hang
from netinv_testing.samples import accepts
from netinv_web.paths import page_path
from netinv_web.testing import Browser
from tests.support.registry import REGISTRY

MEGABYTE = 1_000_000
COUNT, LENGTH, LIMIT = stored_sizes.FEW + 1, 500_000, 2_000_000
TEXT = "x" * LENGTH
VALUES = (TEXT, {"text": TEXT}, f"X-Header: {TEXT}")


def long_fields() -> list[tuple[str, str, Any]]:
    """The fields without a limit that take such a value."""
    found = []
    for label, endpoint in REGISTRY.endpoints.items():
        for name in endpoint.writable if "add" in endpoint.resource.writes else ():
            column = endpoint.table.c.get(name)
            if column is not None and isinstance(column.type, LongText | Json):
                values = [value for value in VALUES if accepts(endpoint, endpoint.fields[name], value)]
                found += [(label, name, value) for value in values[:1]]
    return sorted(found, key=lambda item: item[:2])


FIELDS = long_fields()
CHANGED = [item for item in FIELDS if "change" in REGISTRY[item[0]].resource.writes]


def hostile_values(label: str, name: str, value: Any) -> list[Any]:
    """Hostile values of a megabyte of the kind of a value, for a field."""
    endpoint = REGISTRY[label]
    texts = [text * (MEGABYTE // len(text)) for text in ("[", "[x](", "|a|\n|-|\n", "{{ a }}", "\n")]
    documents = [
        {"k" * MEGABYTE: 1},
        {str(n): {"a": [n]} for n in range(40_000)},
        {"a": [[[[n]]] for n in range(80_000)]},
    ]
    values = [*texts, *documents]
    return [item for item in values if type(item) is type(value) and accepts(endpoint, endpoint.fields[name], item)]


@pytest.mark.slow
@pytest.mark.parametrize(("label", "name", "value"), CHANGED, ids=[f"{label}-{name}" for label, name, _ in CHANGED])
@pytest.mark.night
def test_a_megabyte_is_shown_in_bounded_time(service: Service, label: str, name: str, value: Any) -> None:
    endpoint, browser = service.registry[label], Browser(service, service.admin)
    item = Samples(service).make(endpoint)
    path, page = f"{endpoint.path}{item['id']}/", f"{page_path(endpoint)}{item['id']}/"
    for hostile in hostile_values(label, name, value):
        answer = service.api.send("PATCH", path, {name: hostile}, status=(200, 400))
        if answer.status_int == 400:
            assert name in answer.json, answer.text[:300]
            continue
        pages = [path] if endpoint.resource.of is not None else [path, page, f"{page}changelog/", f"{page}edit/"]
        pages.append(f"{page_path(endpoint)}?id={item['id']}&_columns={name}")
        files = [f"{endpoint.path}?id={item['id']}&format={kind}" for kind in ("csv", "yaml", "json")]
        for address in (*pages, *files, f"{path}history/", f"{endpoint.path}?q=zz"):
            send = browser.get if address in pages else lambda address: service.api.send("GET", address)
            with no_hang(address):
                send(address)
    service.api.delete(path)


@pytest.mark.slow
@pytest.mark.parametrize(("label", "name", "value"), FIELDS, ids=[f"{label}-{name}" for label, name, _ in FIELDS])
@pytest.mark.night
def test_a_page_of_long_values_is_refused_unread(service: Service, label: str, name: str, value: Any) -> None:
    endpoint, samples, browser = service.registry[label], Samples(service), Browser(service, service.admin)
    keys = []
    for _ in range(COUNT):
        body = samples.body(endpoint, **{name: value})
        answer = service.api.send("POST", endpoint.path, body, status=(201, 400))
        if answer.status_int == 400:
            assert name in answer.json, answer.text[:300]  # a rule refuses it
            return
        if len(json.dumps(answer.json[name])) < LENGTH:
            return  # it is not stored as it is sent
        keys.append(answer.json["id"])
    api, query = service.api, [("id", key) for key in keys]
    with service.configured(max_answer_size=LIMIT):
        for path in (endpoint.path, f"{endpoint.path}?format=csv", f"{endpoint.path}?format=yaml"):
            peak, answer = traced(lambda path=path: api.send("GET", path, query=query, status=413))
            assert "netinv.max_answer_size" in answer.text
            assert peak < COUNT * LENGTH / 2, path
        if endpoint.resource.of is None:
            page = browser.get(page_path(endpoint), [*query, ("_columns", name)], status=413)
            assert "netinv.max_answer_size" in page.text
        api.send("GET", endpoint.path, query=query[:2], status=200)
        api.send("GET", endpoint.path, query=[*query, ("fields", "id")], status=200)


def traced(call: Any) -> tuple[int, Any]:
    """The most memory of a call in bytes, and its result."""
    tracemalloc.start()
    try:
        result = call()
        return tracemalloc.get_traced_memory()[1], result
    finally:
        tracemalloc.stop()
