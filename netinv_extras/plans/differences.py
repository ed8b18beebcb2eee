"""Differences of a plan: an entry for each object that it creates, changes or deletes, and their comparison with later
ones.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime
import hashlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from netinv_core.auth import permissions
from netinv_core.changelog.differences import differences
from netinv_core.changelog.later_changes import changes_since_versions
from netinv_core.changelog.models import CREATE
from netinv_extras.plans.document import PlannedObject

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

Entry = dict[str, Any]
MAX_LISTED = 1000  # differences in an answer
_NEW = "new"  # in place of the id in the name of a new object that has no other name
_UUID_LENGTH = 36
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclasses.dataclass(frozen=True)
class PlannedChange:
    """A change of a plan.

    ``identity`` tells it apart within the plan and is the same in later executions; ``digest`` is that of what it does
    and of the version of the object that it was made for.
    """

    identity: str
    digest: str
    entry: Entry


def planned_changes(
    uow: UnitOfWork, changes: Sequence[Change], planned: Sequence[PlannedObject]
) -> list[PlannedChange]:
    """Returns the changes of an execution, with masked secrets.

    New objects have other ids in each execution: values show them by their names.
    """
    places = {(item.endpoint.label, item.id): item.place for item in planned if item.id is not None}
    new = [change for change in changes if change.action == CREATE]
    created = {str(change.key): change.name.replace(str(change.key), _NEW) for change in new}
    result = []
    numbers: dict[str, int] = {}
    for unmasked in changes:
        change = copy.copy(unmasked)
        change.mask()
        entry = _entry(uow, change, created, places.get((change.endpoint.label, change.key)))
        digest = _digest({name: value for name, value in entry.items() if name != "object_id"})
        identity = entry["place"] or f"{change.endpoint.label}/{entry['object_id'] or digest}"
        numbers[identity] = numbers.get(identity, 0) + 1
        if numbers[identity] > 1:
            identity = f"{identity}/{numbers[identity]}"
        result.append(PlannedChange(identity, digest, entry))
    return result


def _entry(uow: UnitOfWork, change: Change, created: Mapping[str, str], place: str | None) -> Entry:
    """Returns the entry of a change; ``object_id`` is null for a new object, ``version`` for one without times."""
    found = differences(uow.registry, change.endpoint.label, change.before, change.after)
    fields = [
        {"field": item.field, "before": _short(item.before, created), "after": _short(item.after, created)}
        for item in found
    ]
    version = (change.before or {}).get("last_updated")
    return {
        "action": change.action,
        "object_type": change.endpoint.label,
        "object_id": None if change.action == CREATE else str(change.key),
        "display": _text(str((change.after or change.before or {}).get("display") or change.name), created),
        "place": place,
        "version": version.isoformat() if isinstance(version, datetime.datetime) else version,
        "fields": [item for item in fields if item["before"] not in _EMPTY or item["after"] not in _EMPTY],
    }


def _short(value: Any, created: Mapping[str, str]) -> Any:
    """Returns a value of a representation in short: choices by value, nested objects by display."""
    if isinstance(value, Mapping):
        if value.keys() == {"value", "label"}:
            return value["value"]
        if "display" in value:
            return created.get(str(value.get("id")), _text(str(value["display"]), created))
        return {name: _short(item, created) for name, item in value.items()}
    if isinstance(value, list):
        return [_short(item, created) for item in value]
    if isinstance(value, str | uuid.UUID):
        return _text(str(value), created)
    return value if isinstance(value, int | float | None) else str(value)


def _text(text: str, created: Mapping[str, str]) -> str:
    """Returns a text with the names of new objects in place of their ids."""
    return _UUID.sub(lambda match: created.get(match[0], match[0]), text) if len(text) >= _UUID_LENGTH else text


def _digest(entry: Entry) -> str:
    return hashlib.blake2b(orjson.dumps(entry, option=orjson.OPT_SORT_KEYS), digest_size=12).hexdigest()


def compare(
    uow: UnitOfWork, stored: Mapping[str, str], entries: Sequence[Entry], now: Sequence[PlannedChange]
) -> list[Entry]:
    """Returns the differences of a plan and what it would do now; empty when there are none.

    Each has the entry as ``planned`` and the one ``now``, null for none, and the fields ``changed`` since the plan with
    the user and the time of the change.

    :param stored: the digests of the plan by identity
    :param entries: the entries of the plan
    """
    current = {change.identity: change for change in now}
    identities = [
        name for name in {**stored, **current} if name not in current or stored.get(name) != current[name].digest
    ]
    if not identities:
        return []
    planned = {_identity(entry): entry for entry in entries}
    pairs = [(planned.get(name), current[name].entry if name in current else None) for name in identities[:MAX_LISTED]]
    changed = _changed_since(uow, [pair[0] for pair in pairs if pair[0] is not None])
    return [
        {"planned": before, "now": after, "changed": changed.get((before or {}).get("object_id"), [])}
        for before, after in pairs
    ]


def _identity(entry: Entry) -> str:
    return entry["place"] or f"{entry['object_type']}/{entry['object_id']}"


def _changed_since(uow: UnitOfWork, entries: Sequence[Entry]) -> dict[str | None, list[dict[str, Any]]]:
    """Returns the fields of objects that changed after their planned version, by id, for objects that the user may view
    now; two statements for each model.
    """
    versions: dict[Endpoint, dict[uuid.UUID, datetime.datetime]] = {}
    for entry in entries:
        endpoint = uow.registry.get(entry["object_type"])
        if endpoint is not None and entry["object_id"] and entry["version"]:
            version = datetime.datetime.fromisoformat(entry["version"])
            versions.setdefault(endpoint, {})[uuid.UUID(entry["object_id"])] = version
    for endpoint, keys in versions.items():
        visible = permissions.visible_ids(uow, endpoint, list(keys))
        versions[endpoint] = {key: version for key, version in keys.items() if key in visible}
    return {
        str(key): [
            {
                "field": item.field,
                "before": _short(item.before, {}),
                "after": _short(item.after, {}),
                "user_name": item.change.user_name,
                "time": item.change.time.isoformat(),
            }
            for item in fields.values()
        ]
        for endpoint, keys in versions.items()
        for key, fields in changes_since_versions(uow, endpoint, keys).items()
    }
