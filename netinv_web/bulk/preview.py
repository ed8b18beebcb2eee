"""Previews of bulk changes: a dry run gives every change and every error, at the row of its object."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import Invalid, RequestError
from netinv_core.fields.cells import text_of
from netinv_core.labels import label_of_name, label_with_unit
from netinv_core.presentation import NAME_IN_CONTEXT
from netinv_core.sql.plans import plan_of
from netinv_core.write import save
from netinv_core.write.dry_run import Preview, dry_run
from netinv_core.write.item_results import FAILED, UPDATED, ItemResult, write_each
from netinv_web.bulk.form import fields_of
from netinv_web.forms.control_values import ABSENT, member
from netinv_web.forms.controls import Control
from netinv_web.forms.deletion import (
    Affected,
    DeniedChanges,
    changed_along,
    denied_changes,
    name_of_change,
    path_of_change,
)
from netinv_web.forms.form import GENERAL, readable
from netinv_web.lists.columns import NEVER
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_PREVIEWED = 2000  # objects that a preview changes: it takes a second
MAX_LINES = 1000  # objects that a preview lists
Errors = dict[Any, Any]  # bodies of errors by id
Write = Callable[[Sequence[Any]], object]


@dataclasses.dataclass(frozen=True)
class ShownDifference:
    """A field of an object before and after a change."""

    label: str
    before: str
    after: str


@dataclasses.dataclass(frozen=True)
class PreviewedObject:
    """An object in a preview, with its changes, its errors, and links to what stands against it: words, name, path."""

    name: str
    path: str
    differences: Sequence[ShownDifference] = ()
    errors: Sequence[str] = ()
    against: Sequence[tuple[str, str, str]] = ()


@dataclasses.dataclass
class BulkPreview:
    """The outcome of a bulk change: ``lines`` with changes and errors, numbers of objects, and changes of others.

    ``refused`` are the errors of objects, by id. ``hidden`` is the number of changes that are not listed, ``tried``
    that of the objects that were tried, ``left_out`` that of the others. ``denied`` are changes that a guard refuses.
    """

    lines: list[PreviewedObject] = dataclasses.field(default_factory=list)
    refused: Errors = dataclasses.field(default_factory=dict)
    faulty: int = 0
    changed: int = 0
    unchanged: int = 0
    others: Sequence[Affected] = ()
    hidden: int = 0
    tried: int = 0
    left_out: int = 0
    denied: DeniedChanges | None = None

    @property
    def applicable(self) -> bool:
        """True when something would change, and nothing is refused. What is refused without the objects that were left
        out may be possible with them.
        """
        return (bool(self.changed) and not self.faulty) or bool(self.left_out)


def preview_updates(
    uow: UnitOfWork, endpoint: Endpoint, bodies: Mapping[Any, Mapping[str, Any]], unrecorded: Sequence[Control] = ()
) -> BulkPreview:
    """Runs an update of objects, by id, without effect. Objects with errors do not hide the changes of the others. Of
    more than :data:`MAX_PREVIEWED` the first ones are tried.

    :param unrecorded: controls of fields that changes do not have; what they hold is compared before and after
    """
    first = dict(itertools.islice(bodies.items(), MAX_PREVIEWED))
    result, bodies = BulkPreview(tried=len(first), left_out=len(bodies) - len(first)), first
    errors: Errors = {}
    names = {control.path[0] for control in unrecorded}

    def update(keys: Sequence[Any]) -> object:
        items = [{**bodies[key], "id": str(key)} for key in keys]
        return save.update(uow, endpoint, items, partial=True, listed=True)

    before = fields_of(uow, endpoint, list(bodies), names)
    with dry_run(uow) as preview:
        valid = attempt(uow, list(bodies), update, errors)
        changed = uow.change_set.keys_of(endpoint) & set(valid)
        after = fields_of(uow, endpoint, valid, names)
    further = {str(key): _compare(unrecorded, before[key], item) for key, item in after.items()}
    further = {key: differences for key, differences in further.items() if differences}
    result.lines = _lines(uow, endpoint, preview, errors, further)
    result.denied = denied_changes(uow, preview)
    result.refused, result.faulty = errors, len(errors)
    counted = sum(count for (_, label), count in preview.unlisted.items() if label != endpoint.label)  # in `others`
    result.hidden = preview.counts.get("changes", 0) - len(preview.changes) - counted
    result.changed = len(set(map(str, changed)) | further.keys())
    result.unchanged = len(valid) - result.changed
    result.others = changed_along(uow, endpoint, preview)
    return result


def _compare(controls: Sequence[Control], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ShownDifference]:
    """The differences of what controls show."""
    pairs = ((control.label, _shown_value(control, before), _shown_value(control, after)) for control in controls)
    return [ShownDifference(*pair) for pair in pairs if pair[1] != pair[2]]


def _shown_value(control: Control, item: Mapping[str, Any]) -> str:
    value = member(item, control.path)
    return "" if value is ABSENT else text_of(value)


def _lines(
    uow: UnitOfWork,
    endpoint: Endpoint,
    preview: Preview,
    errors: Errors,
    further: Mapping[str, Sequence[ShownDifference]],
) -> list[PreviewedObject]:
    """The lines of objects with errors, then those of objects that change."""
    own = {item["object_id"]: item for item in preview.changes if item["object_type"] == endpoint.label}
    others = [key for key in further if key not in own][:MAX_LINES]
    named = names_of(uow, endpoint, [*list(errors)[:MAX_LINES], *map(endpoint.parse_key, others)])
    lines = [
        PreviewedObject(named.get(key, str(key)), object_path(endpoint, key), errors=messages_of(entry))
        for key, entry in errors.items()
    ]
    for key, change in own.items():
        line = line_of(uow, endpoint, change)
        lines.append(dataclasses.replace(line, differences=[*line.differences, *further.get(key, ())]))
    keys = ((key, endpoint.parse_key(key)) for key in others)
    lines += [PreviewedObject(named.get(key, text), object_path(endpoint, key), further[text]) for text, key in keys]
    return lines[:MAX_LINES]


def attempt(uow: UnitOfWork, keys: list[Any], write: Write, errors: Errors) -> list[Any]:
    """Writes objects in a savepoint; when some are refused, the others. Returns the keys that are written.

    Errors of objects are added to ``errors``.
    """

    def write_at(positions: Sequence[int]) -> list[ItemResult]:
        write([keys[position] for position in positions])
        return [ItemResult(UPDATED) for _ in positions]

    results = dict(zip(keys, write_each(uow, len(keys), write_at), strict=True))
    errors |= {key: result.errors for key, result in results.items() if result.status == FAILED}
    return [key for key in keys if key not in errors]


def errors_by_key(error: RequestError, keys: Sequence[Any]) -> Errors:
    """The errors of the objects that an error of a list names."""
    if not isinstance(error, Invalid) or not isinstance(error.body, list):
        return {}
    entries = zip(keys, error.object_errors or error.body[: error.object_count], strict=False)
    return {key: entry for key, entry in entries if entry}


def messages_of(entry: Any) -> list[str]:
    """The messages of an object: those of fields begin with the field's label."""
    if not isinstance(entry, Mapping):
        return [readable(entry)]
    texts = ((str(name), readable(messages)) for name, messages in entry.items())
    return [text if name in GENERAL else f"{label_of_name(name)}: {text}" for name, text in texts]


def messages_of_refusal(error: RequestError) -> list[str]:
    """The messages of a refusal, of one object or of several, each once."""
    parts: list[Any] = []
    for entry in error.object_errors or [error.body]:
        parts += _parts(entry) if isinstance(entry, Mapping) else [entry]
    return list(dict.fromkeys(message for part in parts if part for message in messages_of(part)))


def _parts(entry: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The members of the errors of an object, and each message about the whole of it, one by one."""
    for name, messages in entry.items():
        is_several = name in GENERAL and isinstance(messages, list)
        yield from ({name: message} for message in (messages if is_several else [messages]))


def names_of(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> dict[Any, str]:
    """The names of objects by id; one statement."""
    named = plan_of(endpoint, NAME_IN_CONTEXT).fetch(uow, keys) if keys else ()
    return {key: str(item.get("display") or key) for key, item in named}


def line_of(uow: UnitOfWork, endpoint: Endpoint, change: Mapping[str, Any]) -> PreviewedObject:
    """The line of a change of a dry run."""
    before, after = change["before"] or {}, change["after"] or {}
    names = [name for name in change["fields"] if name not in NEVER and name in endpoint.fields]
    return PreviewedObject(
        name_of_change(uow, change),
        path_of_change(uow, change),
        [
            difference
            for name in names
            for difference in differences_of(endpoint, name, before.get(name), after.get(name))
        ],
    )


def differences_of(endpoint: Endpoint, name: str, before: Any, after: Any) -> list[ShownDifference]:
    """The differences of a field; of one with members, such as custom fields, each member's."""
    field = endpoint.fields[name]
    if field.merges and isinstance(before, Mapping) and isinstance(after, Mapping):
        members = [member for member in {**before, **after} if before.get(member) != after.get(member)]
        return [
            ShownDifference(member, field.text(before.get(member)), field.text(after.get(member))) for member in members
        ]
    return [ShownDifference(label_with_unit(field), field.text(before), field.text(after))]
