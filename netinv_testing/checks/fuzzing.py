"""Random bad input to every path of a resource: answered with a status below 500, whatever is sent.

The input of a resource depends on its label and on :attr:`Case.seed` alone, so a failure is repeated by its test.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from netinv_core.http.actions import actions_of
from netinv_core.sql.lookups import LOOKUPS, SUFFIXES
from netinv_testing.bad_input import BODIES, HEADERS, QUERIES, VALUES
from netinv_testing.cases import Case, check
from netinv_testing.client import NOTHING

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

TEXTS = tuple(value for value in VALUES if isinstance(value, str) and len(value) < 3000)
ANY = range(1000)
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE")


class Fuzzer:
    """Sends random bad requests to the paths of one resource, and removes what some of them created."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.choose = random.Random(f"{case.endpoint.label} {case.seed}")
        self.writable = sorted(case.endpoint.writable)
        self.sample = case.make()
        self.valid = case.body() if case.endpoint.resource.writable else {}
        # Changed at random, a sample may act on what other tests do: a rule without its conditions, an enabled webhook.
        self.created: list[str] = [self.sample["url"]] if "add" in case.endpoint.resource.writes else []
        self.failures: list[str] = []
        self.parameters = sorted(case.endpoint.filters)
        self.actions = sorted(self._actions())

    def _actions(self) -> Iterator[tuple[str, str]]:
        """The method and path of every action below the resource, with the id of the sample where an item is named.

        An action that writes names an object of others' tests nowhere: it may end it.
        """
        for action in actions_of(self.case.service.app.registry):
            if self.case.endpoint not in action.endpoints(self.case.registry):
                continue
            for method in action.views:
                key = (
                    self.sample["id"] if self.case.endpoint.resource.writable or method == "get" else self.case.nobody()
                )
                below = action.name if action.on_list else f"{key}/{action.name}"
                yield method.upper(), re.sub(r"\{[^}]*\}", "zz", f"{self.case.path}{below}/")

    def send(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **options: Any) -> None:
        """Sends one request; what it created is noted."""
        content = raw if raw is not None else json.dumps(body).encode()
        bodies = () if method in ("GET", "HEAD", "OPTIONS") else (content,)
        response = self.case.api.send(method, path, *bodies, status=ANY, **options)
        self.note(response, f"{method} {path} {b''.join(bodies)[:300]!r} {options}")
        if response.status_int == 201 and response.content_type == "application/json":
            shown = response.json if isinstance(response.json, list) else [response.json]
            self.created += [item["url"] for item in shown if isinstance(item, dict) and item.get("url")]

    def note(self, response: Any, request: str) -> None:
        """Keeps a request that ended in an error of the service."""
        if response.status_int >= 500:
            self.failures.append(f"{request[:1000]} → {response.status} {response.text[:300]}")

    def value(self) -> Any:
        """A random JSON value, often one that is wrong for the field it is sent for."""
        return self.choose.choice(VALUES)

    def attributes(self, target: Endpoint) -> dict[str, Any]:
        """Attributes of a resource with wrong values, by field, column, path or lookup: for references, constraints and
        stored filters.
        """
        names = [*target.fields, *target.table.c.keys(), *target.relations, *target.filters]
        result: dict[str, Any] = {}
        for _ in range(self.choose.randint(1, 2)):
            name = self.choose.choice(names)
            if self.choose.random() < 0.4:
                name += f"__{self.choose.choice([*LOOKUPS, *SUFFIXES, 'name', 'id', 'zz'])}"
            result[name] = self.choose.choice(
                (self.value(), self.value(), {self.choose.choice(names): self.value()}, [self.value(), self.value()])
            )
        return result

    def structure(self, name: str) -> Any:
        """A value made for a field: attributes of what it refers to, or of any resource in its other forms."""
        field = self.case.endpoint.fields.get(name)
        target: Endpoint | None = getattr(field, "target", None)
        if target is None:
            target = self.choose.choice(list(self.case.registry.endpoints.values()))
        attributes = self.attributes(target)
        return self.choose.choice((attributes, [attributes], {name: attributes}))

    def object(self) -> dict[str, Any]:
        """A body that is valid but for one to three members."""
        names = [*self.writable, "zz", "custom_fields", "relationships", "tags"]
        chosen = self.choose.sample(names, self.choose.randint(1, 3))
        return self.valid | {
            name: self.structure(name) if self.choose.random() < 0.4 else self.value() for name in chosen
        }

    def text(self) -> str:
        """A random text for a parameter or a part of a path."""
        return self.choose.choice(TEXTS)

    # -- one request each

    def filter_list(self) -> None:
        """One or two filters with lookups, and bad values."""
        parts = []
        for _ in range(self.choose.randint(1, 2)):
            name, suffix = self.choose.choice(self.parameters), self.choose.choice(sorted(SUFFIXES))
            values = [self.text() for _ in range(self.choose.choice((1, 1, 2, 30)))]
            parts += [f"{name}{'__' * bool(suffix)}{suffix}={quote(value)}" for value in values]
        self.send("GET", f"{self.case.path}?limit=2&{'&'.join(parts)}")

    def query_anything(self) -> None:
        """A query string that is no list of parameters, or one of the general parameters with a bad value."""
        path = self.choose.choice((self.case.path, self.case.at(self.sample)))
        self.send(
            self.choose.choice(("GET", "GET", "OPTIONS", "POST", "PATCH")),
            f"{path}?{quote(self.choose.choice(QUERIES), safe='=&;%?#[]')}",
            {},
        )

    def create(self) -> None:
        """One object with wrong members."""
        self.send("POST", self.case.path, self.object())

    def create_many(self) -> None:
        """A list in which some items are no objects."""
        items = [self.choose.choice((self.object(), self.value())) for _ in range(self.choose.randint(1, 4))]
        self.send("POST", self.case.path, items)

    def change(self) -> None:
        """Wrong members for the sample."""
        wrong = {name: value for name, value in self.object().items() if value != self.valid.get(name, NOTHING)}
        self.send(
            self.choose.choice(("PATCH", "PUT")),
            self.case.at(self.sample),
            self.choose.choice((wrong, wrong, self.value())),
        )

    def change_many(self) -> None:
        """A bulk change or deletion with items that name nothing."""
        items = [
            self.choose.choice(({"id": self.value()}, self.value(), {"id": self.sample["id"], "zz": self.value()}))
            for _ in range(2)
        ]
        if self.choose.random() < 0.5:
            items.append({"id": self.case.nobody()})
        self.send(self.choose.choice(("PATCH", "PUT")), self.case.path, self.choose.choice((items, self.value())))

    def delete_many(self) -> None:
        """A bulk deletion of nothing that there is."""
        self.send("DELETE", self.case.path, [{"id": self.case.nobody()}, self.value(), {"id": self.value()}])

    def send_bytes(self) -> None:
        """A body that is no JSON document, or a strange one."""
        path = self.choose.choice((self.case.path, self.case.at(self.sample)))
        method = self.choose.choice(
            ("POST", "PUT", "PATCH", "DELETE") if path == self.case.path else ("POST", "PUT", "PATCH")
        )
        self.send(method, path, raw=self.choose.choice(BODIES))

    def send_headers(self) -> None:
        """One or two bad headers."""
        headers = self.choose.choice(HEADERS) | self.choose.choice(HEADERS)
        method = self.choose.choice(("GET", "GET", "POST", "PATCH", "OPTIONS", "HEAD"))
        self.send(
            method,
            self.choose.choice((self.case.path, self.case.at(self.sample))),
            self.choose.choice(({}, [], self.value())),
            headers=headers,
        )

    def visit(self) -> None:
        """A path below the resource that has a bad id, or more segments than there are."""
        tail = self.choose.choice(
            (
                self.text(),
                f"{self.sample['id']}/{self.text()}",
                "..",
                "%2e%2e",
                ".",
                "%00",
                "%ff",
                "%2f",
                f"{self.sample['id']}",
            )
        )
        path = f"{self.case.path}{quote(tail, safe='%')}{self.choose.choice(('/', '/', ''))}"
        self.send(
            self.choose.choice([method for method in METHODS if method != "DELETE" or tail != self.sample["id"]]),
            path,
            {},
        )

    def act(self) -> None:
        """An action with a bad body or query."""
        if not self.actions:
            return self.filter_list()
        method, path = self.choose.choice(self.actions)
        requested = self.choose.choice((path, path, f"{path}?{quote(self.choose.choice(QUERIES), safe='=&;%?#[]')}"))
        members = (
            "data",
            "schedule",
            "name",
            "prefix_length",
            "note",
            "enabled",
            "retries",
            "object_type",
            "object_id",
            "job_class_name",
            "zz",
        )
        body = self.choose.choice(
            (self.value(), {self.choose.choice(members): self.value() for _ in range(3)}, [self.value()])
        )
        self.send(method, requested, body)
        return None

    def ask_as_nobody(self) -> None:
        """The same without credentials."""
        method, body = self.choose.choice(METHODS), self.choose.choice(BODIES)
        path = f"{self.case.path}?{quote(self.choose.choice(QUERIES), safe='=&;%?#[]')}"
        self.note(
            self.case.service.anonymous.send(method, path, body, status=ANY),
            f"anonymous {method} {path} {body[:300]!r}",
        )

    def clean_up(self) -> None:
        """Deletes what was created, last things first, and what had been protected in a second round."""
        for _ in range(2):
            self.created = [
                url for url in reversed(self.created) if self.case.api.send("DELETE", url).status_int not in (204, 404)
            ]


REQUESTS: tuple[tuple[int, Callable[[Fuzzer], None]], ...] = (
    (6, Fuzzer.filter_list),
    (2, Fuzzer.query_anything),
    (4, Fuzzer.create),
    (1, Fuzzer.create_many),
    (3, Fuzzer.change),
    (1, Fuzzer.change_many),
    (1, Fuzzer.delete_many),
    (1, Fuzzer.send_bytes),
    (2, Fuzzer.send_headers),
    (1, Fuzzer.visit),
    (2, Fuzzer.act),
    (1, Fuzzer.ask_as_nobody),
)


@check()
def bad_input_is_never_an_error_of_ours(case: Case) -> None:
    """Below 500, whatever the path, the query, the headers and the body; and the resource answers afterwards."""
    fuzzer = Fuzzer(case)
    weights, requests = zip(*REQUESTS, strict=True)
    try:
        for request in fuzzer.choose.choices(requests, weights, k=case.inputs):
            request(fuzzer)
    finally:
        fuzzer.clean_up()
    assert not fuzzer.failures, "\n".join(fuzzer.failures)
    case.api.get(case.path, {"limit": 1})
