"""Comparison of all objects of another service, as its lists show them, with the objects here."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.http.serialization import dumps
from netinv_core.importing.dump import Declaration, Excluded
from netinv_core.sql.plans import plan_of
from netinv_import.nautobot import label_of
from netinv_import.rest import NotAList, RestClient
from netinv_import.services import Lists

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

ABSENT = "<absent>"
OBJECTS_AT_ONCE = 500
OURS = "fields that only this service shows"
SECRET, ACCOUNT, TIME = "secrets are not shown", "accounts are not imported", "the time of the import"
KNOWN = {
    **{"created": TIME, "last_updated": TIME, "secret": SECRET, "key": SECRET, "user.id": ACCOUNT, "user.url": ACCOUNT},
    "network_driver_mappings": "names in the libraries that are installed",
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ADDRESS = re.compile(r"https?://[^/\s]+[^\s]*?(?=/api/)")
Representation = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class MemberDifference:
    """A member (``site.name``) that an object of a model has with another value there (``first``) than here."""

    model: str
    key: str
    member: str
    first: Any
    second: Any


@dataclasses.dataclass
class ModelResult:
    """Objects of a model: their numbers there and here, those that are equal, and what is on one side only."""

    there: int = 0
    here: int = 0
    equal: int = 0
    only_there: list[str] = dataclasses.field(default_factory=list)
    only_here: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Comparison:
    """The result: models by label, differences of members, documented ones by reason, and lists without an equal."""

    models: dict[str, ModelResult] = dataclasses.field(default_factory=dict)
    differences: list[MemberDifference] = dataclasses.field(default_factory=list)
    known: dict[str, int] = dataclasses.field(default_factory=dict)
    left_out: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """True when every object there is here and equal; further objects here are no difference."""
        return not self.differences and not any(result.only_there for result in self.models.values())

    def as_json(self) -> dict[str, Any]:
        """Returns the result as JSON has it."""
        return {**dataclasses.asdict(self), "agrees": self.agrees}


def compare(
    uow: UnitOfWork, client: RestClient, declared: Mapping[str, Declaration], advance: Callable[[str], None]
) -> Comparison:
    """Compares all lists of a service with the API of this one. Models that are not imported are left out.

    :raises ValueError: when the service cannot be read, or is another one
    """
    lists = Lists(client, "Nautobot")
    client.use_version(uow.version or ".".join(lists.version.split(".")[:2]))
    result, pairs = Comparison(), {}
    ids: dict[str, str] = {}
    for path in lists.paths():
        label = label_of(uow.registry, path)
        excluded = declared.get(label)
        endpoint = uow.registry.get(label)
        advance(label)
        if isinstance(excluded, Excluded) or endpoint is None:
            result.left_out[label] = excluded.reason if isinstance(excluded, Excluded) else "no such resource here"
            continue
        try:
            there = [item for page in client.pages(f"{path}/") for item in page]
        except NotAList:
            result.left_out[label] = "not a list there"
            continue
        here = _representations(uow, endpoint)
        model = result.models[label] = ModelResult(there=len(there), here=len(here))
        pairs[label] = list(_match(there, here, model))
        ids.update({one["id"]: other["id"] for one, other in pairs[label] if one["id"] != other["id"]})
    for label, matched in pairs.items():
        for one, other in matched:
            _compare(result, label, _normal(one, ids), _normal(other, {}))
    return result


def _representations(uow: UnitOfWork, endpoint: Endpoint) -> list[Representation]:
    """Returns all objects of a resource, as its list shows them."""
    plan = plan_of(endpoint, without=frozenset(name for name, field in endpoint.fields.items() if field.opt_in))
    keys = [key for (key,) in uow.execute(sa.select(endpoint.table.c.id))]
    rows: list[Representation] = []
    for start in range(0, len(keys), OBJECTS_AT_ONCE):
        fetched = plan.fetch(uow, keys[start : start + OBJECTS_AT_ONCE])
        rows += json.loads(dumps([representation for _, representation in fetched]))
    return rows


def _match(
    there: list[Representation], here: list[Representation], model: ModelResult
) -> Iterator[tuple[Representation, Representation]]:
    """Yields the pairs of objects with one id, then of those with one slug or name; notes what has no partner."""
    by_id = {item["id"]: item for item in here}
    waiting = []
    for item in there:
        if (other := by_id.pop(item["id"], None)) is not None:
            yield item, other
        else:
            waiting.append(item)
    by_name: dict[Any, list[Representation]] = {}
    for item in by_id.values():
        by_name.setdefault(_name(item), []).append(item)
    for item in waiting:
        candidates = by_name.get(_name(item), [])
        if len(candidates) == 1:
            yield item, candidates.pop()
        else:
            model.only_there.append(_title(item))
    model.only_here += [_title(item) for items in by_name.values() for item in items]


def _name(item: Representation) -> Any:
    return item.get("slug") or item.get("display")


def _title(item: Representation) -> str:
    return f"{item.get('display') or ''} ({item['id']})"


def _normal(value: Any, ids: Mapping[str, str]) -> Any:
    """Returns a value with the addresses of objects without the service, and with the ids that they have here."""
    if isinstance(value, dict):
        return {name: _normal(member, ids) for name, member in value.items()}
    if isinstance(value, list):
        return [_normal(member, ids) for member in value]
    if not isinstance(value, str):
        return value
    text = _ADDRESS.sub("", value) if "://" in value else value
    return _UUID.sub(lambda found: ids.get(found[0], found[0]), text) if ids else text


def _compare(result: Comparison, label: str, one: Representation, other: Representation) -> None:
    """Notes the differences of two representations of an object."""
    differences = [MemberDifference(label, _title(other), *found) for found in _find_differences(one, other)]
    unknown = []
    for difference in differences:
        if reason := _reason(difference):
            result.known[reason] = result.known.get(reason, 0) + 1
        else:
            unknown.append(difference)
    result.differences += unknown
    result.models[label].equal += not unknown


def _reason(difference: MemberDifference) -> str:
    """Returns why a difference is expected; an empty text for others."""
    if difference.first == ABSENT:
        return OURS
    member = difference.member
    names = member, member.partition(".")[0], member.rpartition(".")[2]
    return next((KNOWN[name] for name in names if name in KNOWN), "")


def _find_differences(one: Any, other: Any, member: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yields the members in which two values differ, as path and both values."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys([*one, *other]):
            yield from _find_differences(
                one.get(name, ABSENT), other.get(name, ABSENT), f"{member}.{name}" if member else name
            )
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from _find_differences(first, second, f"{member}[]")
    elif one != other or isinstance(one, bool) is not isinstance(other, bool):
        yield member, one, other
