"""The change records and notes of the inventory's objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compare.pair import Pair
from compare.script import Request


def compare(pair: Pair, wanted: Callable[[str], bool], inventory: Sequence[Request]) -> None:
    """Compares for one object of each model: its change records, its own page, its notes, and a note written to it."""
    seen: set[str] = set()
    for request in inventory:
        model = request.path.replace("/", ".")
        if request.method != "POST" or request.label is None or not wanted(model):
            continue
        pair.compare(
            "changes",
            model,
            "change records",
            Request("GET", f"extras/object-changes?changed_object_id=${request.label}"),
        )
        pair.compare("changes", model, "page", Request("GET", f"{request.path}/${request.label}"))
        if model in seen or model.startswith("users."):
            continue
        seen.add(model)
        note = Request("POST", f"{request.path}/${request.label}/notes", {"note": "said *here*"}, "note")
        pair.compare("changes", model, "notes", note)
        pair.compare("changes", model, "notes", Request("GET", f"{request.path}/${request.label}/notes"))
        pair.call(Request("DELETE", "extras/notes/$note"))
