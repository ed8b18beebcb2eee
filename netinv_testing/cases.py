"""Checks of the contract, and their subject: one resource of a running service."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.http import versions
from netinv_testing.client import Api, Service, Unique
from netinv_testing.samples import NoSample, Samples, generic_pairs

if TYPE_CHECKING:
    from netinv_core.fields import Field
    from netinv_core.registry import Registry

T = TypeVar("T")


class Case:
    """A resource under test: ``many`` is how many objects stand for a lot of them, ``thorough`` asks for every
    combination.

    A case for reading (:meth:`for_reading`) takes its objects from the population of the service, others make new ones.

    ``inputs`` is the number of random bad requests, ``seed`` selects them; ``most`` bounds the requests of a check that
    sends one for each of many combinations, and the seed draws which.
    """

    def __init__(
        self,
        service: Service,
        label: str,
        *,
        many: int = 30,
        thorough: bool = False,
        inputs: int = 60,
        most: int | None = 60,
        seed: int = 0,
    ) -> None:
        self.service = service
        self.registry: Registry = service.registry
        self.endpoint: Endpoint = service.registry[label]
        self.path = self.endpoint.path
        self.api: Api = service.api
        self.unique: Unique = service.unique
        self.samples = Samples(service)
        self._reads_only = False
        self.many, self.thorough = many, thorough
        self.inputs, self.most, self.seed = inputs, most, seed

    def for_reading(self) -> Case:
        """The same case for a check that changes none of its objects, which it shares with all others that only
        read.
        """
        case = copy.copy(self)
        case._reads_only = self.endpoint.resource.writable
        return case

    def body(self, **members: Any) -> dict[str, Any]:
        """A valid body."""
        return self.samples.body(self.endpoint, **members)

    def make(self, **members: Any) -> dict[str, Any]:
        """A new object, or one of the population; with ``members`` it is always a new one."""
        if self._reads_only and not members:
            return self.service.population.objects(self.endpoint)[0]
        return self.samples.make(self.endpoint, **members)

    def make_many(self, count: int) -> list[dict[str, Any]]:
        """New objects, or those of the population."""
        if self._reads_only:
            return self.service.population.objects(self.endpoint, count)
        return self.samples.make_many(self.endpoint, count)

    def at(self, item: dict[str, Any]) -> str:
        """An object's path."""
        return f"{self.path}{item['id']}/"

    def read(self, item: dict[str, Any]) -> Any:
        """An object as it is now."""
        return self.api.get(self.at(item))

    def list_of(self, objects: list[dict[str, Any]], api: Api | None = None, **query: Any) -> Any:
        """A page of a list narrowed to these objects."""
        return (api or self.api).get(self.path, {"id": [item["id"] for item in objects], **query})

    def shown_names(self) -> list[str]:
        """The members of a representation that is asked for without more, in order."""
        hidden = self.endpoint.opt_in | versions.absent(self.endpoint, versions.NEWEST)
        return [name for name, field in self.endpoint.fields.items() if not (field.write_only or name in hidden)]

    def nobody(self) -> Any:
        """An id that no object has."""
        return 2**31 - 1 if self.endpoint.key_type is int else "00000000-0000-4000-8000-000000000000"

    def changes(self) -> Iterator[tuple[Field, Any]]:
        """Every field that samples have another value for, with that value."""
        for field in self.endpoint.writable.values():
            if field.name in versions.absent(self.endpoint, versions.NEWEST):
                continue
            if getattr(field, "attribute", "") == "custom_field_data":
                continue  # holds the values of custom fields that other tests define, which custom_fields shows
            plain = isinstance(field, fields.Value | fields.Reference | fields.ToMany | fields.ContentTypeList)
            if plain and not any(field.name in pair for pair in generic_pairs(self.endpoint)):
                try:
                    yield field, self.samples.value(self.endpoint, field, another=True)
                except NoSample:
                    continue

    def drawn(self, combinations: Iterable[T]) -> list[T]:
        """The combinations in their order, or as many of them as :attr:`most` allows, drawn by the seed."""
        everything = list(combinations)
        if self.most is None or len(everything) <= self.most:
            return everything
        chosen = random.Random(f"{self.endpoint.label} {self.seed}").sample(range(len(everything)), self.most)
        return [everything[number] for number in sorted(chosen)]

    def filled(self) -> dict[str, Any]:
        """An object with a value in every field that its resource's rules let change alone."""
        if self._reads_only:
            return self.service.population.filled(self.endpoint, self._new_filled)
        return self._new_filled()

    def _new_filled(self) -> dict[str, Any]:
        item = self.samples.make(self.endpoint)
        values = {field.name: value for field, value in self.changes()} if self.endpoint.resource.writable else {}
        if values and self.api.send("PATCH", self.at(item), values, status=(200, 400)).status_int == 400:
            for name, value in values.items():
                self.api.patch(self.at(item), {name: value}, status=(200, 400))
        members: dict[str, Any] = self.read(item)
        return members


Applies = Callable[[Endpoint], bool]


@dataclasses.dataclass(frozen=True)
class Check:
    """One behaviour that every resource has for which ``applies`` holds.

    A check that only ``reads`` neither changes nor deletes the objects of its case, or is refused when it tries.
    """

    function: Callable[[Case], None]
    applies: Applies
    reads: bool = False

    @property
    def name(self) -> str:
        """The checked property, as a sentence without spaces."""
        return self.function.__name__

    def __call__(self, case: Case) -> None:
        self.function(case.for_reading() if self.reads else case)


CHECKS: list[Check] = []


def writable(endpoint: Endpoint) -> bool:
    """True when objects of the resource can be created and changed."""
    return endpoint.resource.writable


def every(endpoint: Endpoint) -> bool:
    """Any resource."""
    return True


def check(
    applies: Applies = every, *, reads: bool = False
) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Makes a function a check of the contract; one that only ``reads`` shares its objects with the others that do."""

    def register(function: Callable[[Case], None]) -> Callable[[Case], None]:
        CHECKS.append(Check(function, applies, reads))
        return function

    return register
