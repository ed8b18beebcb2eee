"""Previews of bulk changes: a dry run gives every change and every error, at the row of its object."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netinv_core.endpoint import Endpoint
from netinv_core.errors import Invalid, RequestError
from netinv_core.labels import label_of, label_of_name
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_core.write.dry_run import Preview, dry_run
from netinv_web.forms.deletion import Affected, by_model
from netinv_web.forms.form import readable
from netinv_web.lists.columns import NEVER
from netinv_web.paths import object_path

MAX_ATTEMPTS = 4  # dry runs: each leaves out the objects that the one before refused
MAX_LINES = 1000  # objects that a preview lists
Errors = dict[Any, Any]  # bodies of errors by id
Write = Callable[[Sequence[Any]], object]


@dataclasses.dataclass(frozen=True)
class Difference:
    """A field of an object before and after a change."""

    label: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class Line:
    """An object in a preview, with its changes or its errors."""

    name: str
    path: str
    differences: Sequence[Difference] = ()
    errors: Sequence[str] = ()


@dataclasses.dataclass
class BulkPreview:
    """The outcome of a bulk change: ``lines`` with changes and errors, numbers of objects, and changes of others.

    ``errors`` concern the whole. ``hidden`` is the number of changes that are not listed.
    """

    lines: list[Line] = dataclasses.field(default_factory=list)
    errors: list[str] = dataclasses.field(default_factory=list)
    faulty: int = 0
    changed: int = 0
    unchanged: int = 0
    others: Sequence[Affected] = ()
    hidden: int = 0

    @property
    def applicable(self) -> bool:
        """True when something would change, and nothing is refused."""
        return bool(self.changed) and not self.errors and not self.faulty


def preview_updates(uow: UnitOfWork, endpoint: Endpoint, bodies: Mapping[Any, Mapping[str, Any]]) -> BulkPreview:
    """Runs an update of objects, by id, without effect. Objects with errors do not hide the changes of the others."""
    result = BulkPreview()
    errors: Errors = {}

    def update(keys: Sequence[Any]) -> object:
        items = [{**bodies[key], "id": str(key)} for key in keys]
        return save.update(uow, endpoint, items, partial=True, listed=True)

    with dry_run(uow) as preview:
        valid = attempt(uow, list(bodies), update, errors, result.errors)
    own = [change for change in preview.changes if change["object_type"] == endpoint.label]
    named = names_of(uow, endpoint, list(errors)[:MAX_LINES])
    lines = [Line(named.get(key, str(key)), object_path(endpoint, key), errors=messages_of(entry)) for key, entry in errors.items()]
    lines += [line_of(endpoint, change) for change in own]
    result.lines = lines[:MAX_LINES]
    result.faulty = len(errors)
    _count(uow, endpoint, preview, result, len(valid))
    return result


def _count(uow: UnitOfWork, endpoint: Endpoint, preview: Preview, result: BulkPreview, attempted: int) -> None:
    """Sets the numbers of changes; those that are not listed count as changes of the selected objects."""
    own = sum(1 for change in preview.changes if change["object_type"] == endpoint.label)
    result.hidden = preview.counts.get("changes", 0) - len(preview.changes)
    result.changed = min(attempted, own + result.hidden)
    result.unchanged = attempted - result.changed
    result.others = by_model(uow, [item for item in preview.changes if item["object_type"] != endpoint.label])


def attempt(uow: UnitOfWork, keys: list[Any], write: Write, errors: Errors, general: list[str]) -> list[Any]:
    """Writes objects in a savepoint; when some are refused, the others. Returns the keys that are written.

    Errors of objects are added to ``errors``, others to ``general``.
    """
    remaining = keys
    for _ in range(MAX_ATTEMPTS):
        try:
            with uow.savepoint():
                write(remaining)
            return remaining
        except RequestError as error:
            refused = errors_by_key(error, remaining)
            if not refused:
                general.append(readable(error.body))
                return []
            errors |= refused
            remaining = [key for key in remaining if key not in errors]
    general.append("Further objects may have errors.")
    return []


def errors_by_key(error: RequestError, keys: Sequence[Any]) -> Errors:
    """The errors of the objects that an error of a list names."""
    body = error.body
    if not isinstance(error, Invalid) or not isinstance(body, list):
        return {}
    entries = zip(keys, body[: error.object_count], strict=False)
    return {key: entry for key, entry in entries if entry}


def messages_of(entry: Any) -> list[str]:
    """The messages of an object: those of fields begin with the field's label."""
    if not isinstance(entry, Mapping):
        return [readable(entry)]
    general = ("__all__", "non_field_errors", "detail")
    texts = ((str(name), readable(messages)) for name, messages in entry.items())
    return [text if name in general else f"{label_of_name(name)}: {text}" for name, text in texts]


def names_of(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> dict[Any, str]:
    """The names of objects by id; one statement."""
    nested = endpoint.plan("nested").fetch(uow, keys) if keys else ()
    return {key: str(item.get("display") or key) for key, item in nested}


def line_of(endpoint: Endpoint, change: Mapping[str, Any]) -> Line:
    """The line of a change of a dry run."""
    before, after = change["before"] or {}, change["after"] or {}
    names = [name for name in change["fields"] if name not in NEVER and name in endpoint.fields]
    name = str((change["before"] or after).get("display") or change["object_id"])
    return Line(
        name,
        object_path(endpoint, change["object_id"]),
        [
            difference
            for name in names
            for difference in differences_of(endpoint, name, before.get(name), after.get(name))
        ],
    )


def differences_of(endpoint: Endpoint, name: str, before: Any, after: Any) -> list[Difference]:
    """The differences of a field; of one with members, such as custom fields, each member's."""
    field = endpoint.fields[name]
    if field.merges and isinstance(before, Mapping) and isinstance(after, Mapping):
        members = [member for member in {**before, **after} if before.get(member) != after.get(member)]
        return [Difference(member, field.text(before.get(member)), field.text(after.get(member))) for member in members]
    return [Difference(label_of(field), field.text(before), field.text(after))]
