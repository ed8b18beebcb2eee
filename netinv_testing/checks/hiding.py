"""Hiding: what a user may not view is answered like what does not exist, wherever it is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

SOME = 6


def _hideable(endpoint: Endpoint) -> bool:
    return endpoint.resource.writable and endpoint.resource.narrowing is None


def _leading_to(case: Case) -> Iterator[tuple[Endpoint, fields.Reference | fields.ToMany]]:
    """The fields of other resources that name objects of this one by id; statuses are choices, which anyone may
    name.
    """
    for endpoint in case.registry.endpoints.values():
        for field in endpoint.fields.values():
            choice = isinstance(field, fields.Status) or getattr(field, "by", None) is not None
            if isinstance(field, fields.Reference | fields.ToMany) and not choice and field.target is case.endpoint:
                yield endpoint, field


@check(_hideable, reads=True)
def what_is_hidden_is_like_what_does_not_exist(case: Case) -> None:
    """In lists, searches, query parameters and bodies of whatever leads here: the same status and the same words."""
    hidden, nobody = case.make(), case.nobody()
    others = [label for label in case.registry.endpoints if label != case.endpoint.label]
    blind = case.service.user(("view add", others), ("view add", case.endpoint.label, {"id": nobody})).api
    assert blind.get(case.path, {"limit": 1})["count"] == 0
    if "q" in case.endpoint.filters:
        assert blind.get(case.path, {"q": str(hidden.get("name") or hidden["id"])})["count"] == 0
    leading = list(_leading_to(case))
    for endpoint, field in leading if case.thorough else leading[:SOME]:
        for name in {field.name, f"{field.name}_id"} & endpoint.filters.keys():
            answers = [
                blind.send("GET", endpoint.path, query={name: key, "limit": 1}, status=(200, 400))
                for key in (hidden["id"], nobody)
            ]
            _assert_alike(answers, hidden["id"], nobody, f"{endpoint.path}?{name}")
        if field.name in endpoint.writable and "add" in endpoint.resource.writes:
            ways = list(_ways_to_name(case.endpoint, hidden["id"], nobody))
            for names in ways if isinstance(field, fields.ToMany) else ways[1:]:  # a foreign key takes a bare id
                bodies = [
                    {field.name: field.of_items([value]) if isinstance(field, fields.ToMany) else value}
                    for value in names
                ]
                answers = [blind.send("POST", endpoint.path, body, status=(400, 403)) for body in bodies]
                _assert_alike(answers, hidden["id"], nobody, f"POST {endpoint.path} {field.name}")


def _ways_to_name(endpoint: Endpoint, *keys: Any) -> Iterator[list[Any]]:
    """The ways to name objects: by id, by an attribute, by URL."""
    yield list(keys)
    yield [{"id": key} for key in keys]
    yield [{"url": f"http://localhost{endpoint.canonical_path}{key}/"} for key in keys]


def _assert_alike(answers: list[Any], hidden: Any, nobody: Any, what: str) -> None:
    (status, text), (other_status, other_text) = (
        (answer.status_int, answer.text.replace(str(key), "…"))
        for answer, key in zip(answers, (hidden, nobody), strict=True)
    )
    assert (status, text) == (other_status, other_text), what
