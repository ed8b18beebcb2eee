"""OPTIONS of every endpoint, field by field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compare.pair import Pair
from compare.script import Request
from compare.service import Answer

MEMBERS = (
    "type",
    "required",
    "read_only",
    "label",
    "help_text",
    "max_length",
    "min_length",
    "min_value",
    "max_value",
    "choices",
)
OTHERS_ONLY = ("plugins", "status", "docs", "graphql")


def endpoints(pair: Pair) -> list[str]:
    """The paths of the first service's model endpoints, below ``/api/``."""
    root = pair.first.raw("GET", "").json()
    found: list[str] = []
    for application in sorted(root):
        if application in OTHERS_ONLY:
            continue
        listed = pair.first.raw("GET", application).json()
        found.extend(f"{application}/{name}" for name in sorted(listed) if "/" not in name)
    return found


def compare(pair: Pair, wanted: Callable[[str], bool]) -> None:
    """Asks both services for the OPTIONS of every list, and notes the differences of names and of every field."""
    for path in endpoints(pair):
        model = path.replace("/", ".")
        if wanted(model):
            request = Request("OPTIONS", path)
            first, second = pair.call(request)
            pair.note("options", model, "fields", request, _reduced(first), _reduced(second))


def _reduced(answer: Answer) -> Answer:
    """An answer with the members of a field's description that clients read, and its choices as pairs."""
    if not isinstance(answer.body, dict) or not isinstance(answer.body.get("actions"), dict):
        return answer
    body = {name: answer.body.get(name) for name in ("name", "renders", "parses")}
    for method, fields in answer.body["actions"].items():
        body[method] = {name: _described(field) for name, field in fields.items() if isinstance(field, dict)}
    return Answer(answer.status, body)


def _described(field: dict[str, Any]) -> dict[str, Any]:
    described = {name: field[name] for name in MEMBERS if name in field}
    if isinstance(field.get("choices"), list):
        described["choices"] = {str(choice.get("value")): choice.get("display") for choice in field["choices"]}
    return described
