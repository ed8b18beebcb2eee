"""Valid bodies for any resource, made from its fields: what is required, references created along the way.

Where a field's type does not suggest a value, :attr:`Resource.example <netinv_core.resource.Resource>` does: a value, a
function of a number that no other sample has (the functions of one body get the same), or ``...`` for an optional field
that is to be filled as if it were
required. Values that depend on the database are in :attr:`Service.examples <netinv_testing.client.Service>`.
"""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core import fields
from netinv_core.fields import schema
from netinv_core.models.base import Organizational
from netinv_core.models.columns import column_info
from netinv_core.resource import NEW_OBJECT
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_testing.client import Api, Service, Unique


class NoSample(LookupError):
    """A field for which no value can be thought of: its resource needs an ``example``."""


class Samples:
    """Bodies and objects; those of one instance share what they refer to, so that they fit together.

    Statuses are shared by all instances of a service, in :attr:`Service.statuses`: any number of objects may have the
    same one, and a new one empties the cache of the configuration (half of the time of a new object).
    """

    def __init__(self, service: Service) -> None:
        self.api: Api = service.api
        self.registry: Registry = service.registry
        self.unique: Unique = service.unique
        self._examples = service.examples
        self._statuses = service.statuses
        self._shared: dict[str, dict[str, Any]] = {}

    def body(self, endpoint: Endpoint, **overrides: Any) -> dict[str, Any]:
        """A body for POST; ``given`` members stand as they are."""
        example = self._example(endpoint)
        filled = [
            f for name, f in endpoint.writable.items() if name not in overrides and (f.required or name in example)
        ]
        pairs = generic_pairs(endpoint)
        paired = {name for pair in pairs for name in pair}
        number = self.unique.number()
        members = {
            field.name: self.value(endpoint, field, number=number) for field in filled if field.name not in paired
        }
        for pair in pairs:
            if any(field.name in pair for field in filled):
                target = self._named_resource(endpoint, pair[0])
                item = self.make(target) if _is_unique(endpoint, pair) else self.shared(target, endpoint)
                members |= dict(zip(pair, (target.label, item["id"]), strict=True))
        return {**members, **overrides}

    def _example(self, endpoint: Endpoint) -> dict[str, Any]:
        return {**endpoint.resource.example, **self._examples.get(endpoint.label, {})}

    def _named_resource(self, endpoint: Endpoint, name: str) -> Endpoint:
        """A resource whose objects a pair of type and id may name: the example's, or any."""
        if (label := self._example(endpoint).get(name)) is not None:
            return self.registry[label]
        field = endpoint.fields[name]
        return next(
            e
            for e in self.registry.endpoints.values()
            if issubclass(e.model, Organizational) and accepts(endpoint, field, e.label)
        )

    def make(self, endpoint: Endpoint, **overrides: Any) -> dict[str, Any]:
        """A new object; of a resource that cannot be written, one that is there."""
        return self.make_many(endpoint, 1, **overrides)[0]

    def make_many(self, endpoint: Endpoint, count: int, **overrides: Any) -> list[dict[str, Any]]:
        """New objects, made in one request."""
        if "add" in endpoint.resource.writes:
            created = self.api.post(endpoint.path, [self.body(endpoint, **overrides) for _ in range(count)])
            by_id = {
                item["id"]: item
                for item in self.api.get(endpoint.path, {"id": [item["id"] for item in created], "limit": count})[
                    "results"
                ]
            }
            return [by_id[item["id"]] for item in created]
        existing: list[dict[str, Any]] = self.api.get(endpoint.path, {"limit": count})["results"]
        if len(existing) < count:
            self.make_many(
                next(e for e in self.registry.endpoints.values() if issubclass(e.model, Organizational)), count
            )
            existing = self.api.get(endpoint.path, {"limit": count})["results"]
        return existing

    def below(self, endpoint: Endpoint, parent: dict[str, Any]) -> dict[str, Any]:
        """A new node of a tree below another one, without the references that only roots need have."""
        optional = [name for name, f in endpoint.writable.items() if isinstance(f, fields.Reference) and f.nullable]
        return self.make(endpoint, **{**dict.fromkeys(optional), "parent": parent["id"]})

    def shared(self, target: Endpoint, owner: Endpoint, place: str = "") -> dict[str, Any]:
        """The one object of ``target`` that samples refer to; allowed for the owner's content type, if such is asked.

        A ``place`` has one of its own: what refers to two objects of a model refers to different ones.
        """
        name = f"{target.label} of {owner.label}" if _types_of(target) else f"{target.label} {place}"
        if name not in self._shared:
            self._shared[name] = self._post(target, **self.allowing(target, owner))
        return self._shared[name]

    def _post(self, endpoint: Endpoint, **overrides: Any) -> dict[str, Any]:
        """A new object as the answer to its creation shows it, which suffices to refer to it."""
        if "add" not in endpoint.resource.writes:
            return self.make(endpoint, **overrides)
        created: dict[str, Any] = self.api.post(endpoint.path, self.body(endpoint, **overrides))
        return created

    @staticmethod
    def allowing(target: Endpoint, owner: Endpoint) -> dict[str, Any]:
        """The members that make an object of ``target`` usable for ``owner``."""
        return {
            name: [owner.label] for name in _types_of(target) if accepts(target, target.fields[name], [owner.label])
        }

    def value(self, endpoint: Endpoint, field: Field, *, another: bool = False, number: int | None = None) -> Any:
        """A value for a field; ``another`` than the one that samples usually have.

        :param number: what a function of the resource's ``example`` gets
        :raises NoSample: when none is known
        """
        example = self._example(endpoint).get(field.name, ...)
        if example is NEW_OBJECT and isinstance(field, fields.Reference | fields.ToMany):
            return self._reference(endpoint, field, another=True)
        if example is not ...:
            return example(self.unique.number() if number is None else number) if callable(example) else example
        if isinstance(field, fields.Choice):
            values = [value for value, _ in field.choices.items if value != ""]
            return values[-1 if another else 0]
        if isinstance(field, fields.ContentTypeList):
            return [
                next(label for label in (endpoint.label, *self.registry.endpoints) if accepts(endpoint, field, [label]))
            ]
        if isinstance(field, fields.Reference | fields.ToMany):
            return self._reference(endpoint, field, another=another)
        if getattr(field, "node", None) is None:
            raise NoSample(f"{endpoint.label}.{field.name} needs an example")
        return self._parse_sample(endpoint, field, self.unique.number(), another=another)

    def _reference(self, endpoint: Endpoint, field: fields.Reference | fields.ToMany, *, another: bool) -> Any:
        target = field.target
        if target is None or not (target.resource.writable or not another):
            raise NoSample(f"{endpoint.label}.{field.name} leads to a model that is not installed")
        single = isinstance(field, fields.Reference)
        if isinstance(field, fields.Status):
            item = self._status(target, endpoint, field, another=another)
        elif another or (single and _alone(endpoint, field.attribute)):
            item = self._post(target, **self.allowing(target, endpoint))
        else:
            alike = [
                f.name
                for f in endpoint.writable.values()
                if single and f.required and isinstance(f, fields.Reference) and f.target is target
            ]
            item = self.shared(target, endpoint, field.name if field.name in alike[1:] else "")
        if isinstance(field, fields.Status):
            return item["slug"]
        return field.of_items([item[field.by or "id"]]) if isinstance(field, fields.ToMany) else item["id"]

    def _status(self, target: Endpoint, owner: Endpoint, field: fields.Status, *, another: bool) -> dict[str, Any]:
        """A status of the service that objects of ``owner`` may have; ``another`` is not the one of new samples."""
        key = (owner.label, field.name, another)
        if key not in self._statuses:
            self._statuses[key] = self._post(target, **self.allowing(target, owner))
        return self._statuses[key]

    def _parse_sample(self, endpoint: Endpoint, field: Any, number: int, *, another: bool) -> Any:
        for candidate in _candidates(field, number, self.unique, another=another):
            if accepts(endpoint, field, candidate):
                return candidate
        raise NoSample(f"{endpoint.label}.{field.name} needs an example")


def _candidates(field: Any, number: int, unique: Unique, *, another: bool) -> Iterator[Any]:
    """Values that might fit, the likeliest first."""
    info, kind = getattr(field, "info", None), getattr(field, "python_type", str)
    if info is not None and info.parse is None:
        low = info.minimum if info.minimum is not None else 1
        high = info.maximum if info.maximum is not None else low + 10**6
        likely: dict[type, list[Any]] = {
            bool: [another],
            int: [low + number % (high - low + 1)],
            float: [1.5, float(low)],
            decimal.Decimal: [f"{number % 80}.5", str(number % 80), "1"],
            uuid.UUID: [str(uuid.uuid4())],
            datetime.date: [f"20{number % 90 + 10}-01-02"],
            datetime.datetime: [f"20{number % 60 + 40}-01-02T03:04:05Z"],
        }
        yield from likely.get(kind, [{"sample": number}] if info.kind == "json" else [])
    yield unique()[-(getattr(field, "length", None) or 50) :]
    yield f"{unique()}@example.org"
    yield f"{number:06x}"
    yield f"{number:040x}"
    yield f"10.{number >> 8 & 255}.{number & 255}.0/24"
    yield f"02:00:00:{number >> 16 & 255:02X}:{number >> 8 & 255:02X}:{number & 255:02X}"
    yield f"http://example.org/{number}"
    yield from (number % 4000 + 1, "UTC", "64512:1", [number % 4000 + 1], [], {})


def accepts(endpoint: Endpoint, field: Field, value: Any) -> bool:
    """True when a field accepts a value, as far as it can tell without a database."""
    try:
        field.accept(Draft(endpoint, {}), value)
    except colander.Invalid:
        return False
    return True


def _alone(endpoint: Endpoint, attribute: Any) -> bool:
    """True when two samples need different targets of a reference, because nothing else distinguishes them in a unique
    set.
    """
    if endpoint.table.c[attribute].unique:
        return True
    sets = [
        constraint.columns for constraint in endpoint.table.constraints if isinstance(constraint, sa.UniqueConstraint)
    ]
    return any(
        attribute in result and all(column_info(c).foreign_key or column_info(c).choices for c in result)
        for result in sets
    )


def _types_of(target: Endpoint) -> list[str]:
    return [name for name, field in target.writable.items() if isinstance(field, fields.ContentTypeList)]


def generic_pairs(endpoint: Endpoint) -> list[tuple[str, str]]:
    """The pairs of fields, type and id, that name an object of several models, where the resource has them."""
    result = [
        f
        for f in endpoint.fields.values()
        if isinstance(f, fields.GenericForeignKey) and f.type_attribute in endpoint.writable
    ]
    about = [pair for pair in endpoint.resource.about if endpoint.writable.keys() >= set(pair)]
    return list(dict.fromkeys([*((field.type_attribute, field.id_attribute) for field in result), *about]))


def _is_unique(endpoint: Endpoint, pair: tuple[str, str]) -> bool:
    return any(isinstance(c, sa.UniqueConstraint) and pair[1] in c.columns for c in endpoint.table.constraints)


def sample(service: Service, endpoint: Endpoint) -> dict[str, Any]:
    """A valid body for POST to the resource."""
    return Samples(service).body(endpoint)


def as_written(shown: Any) -> Any:
    """A member of a representation in the form in which it is written: ids for nested objects, values for choices."""
    if isinstance(shown, dict) and set(shown) == {"value", "label"}:
        return shown["value"]
    if isinstance(shown, dict) and "url" in shown:
        return shown["id"]
    return [as_written(item) for item in shown] if isinstance(shown, list) else shown


def same(answered: dict[str, Any], item: dict[str, Any]) -> bool:
    """True when the answer to a write and a representation agree in every member that both have.

    Answers hold members that are read on request only; those to a creation leave out counters.
    """
    return all(item[name] == value for name, value in answered.items() if name in item and name != "last_updated")


def agree(field: Field, sent: Any, item: Any) -> bool:
    """True when the shown value equals the sent one, as the field understands both."""
    if isinstance(field, fields.Image):
        return bool(sent) == bool(item)  # a file is shown by its address
    item, node = as_written(item), getattr(field, "node", None)
    if node is None or sent is None or sent == item:
        return bool(sent == item)
    try:
        return bool(schema.parse(node, sent) == schema.parse(node, item))
    except colander.Invalid:
        return False
