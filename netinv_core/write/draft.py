"""Drafts: what an object is to become, between a body and the database. One object is a batch of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.errors import FieldErrors, Invalid
from netinv_core.fields import NONE, Field, errors_of
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Reference, ToMany

NON_FIELD = "non_field_errors"
ALL = "__all__"


class Draft:
    """One object of a batch.

    ``body`` is what was sent; ``before`` the row as it stands (empty for a new object); ``values`` the columns to
    write, ``many`` what goes to association tables, both by name; ``errors`` what is wrong, by field.
    """

    __slots__ = ("before", "body", "endpoint", "errors", "extra", "id", "many", "references", "references_many", "values")

    def __init__(self, endpoint: Endpoint, body: Mapping[str, Any], before: dict[str, Any] | None = None) -> None:
        self.endpoint = endpoint
        self.body = body
        self.before = before or {}
        self.values: dict[str, Any] = {}
        self.many: dict[str, list[Any]] = {}
        self.extra: dict[str, Any] = {}
        self.errors: FieldErrors = {}
        self.references: list[tuple[Reference, Any]] = []
        self.references_many: list[tuple[ToMany, list[Any]]] = []
        self.id: Any = self.before.get("id")

    @property
    def new(self) -> bool:
        """Whether the object is to be created."""
        return not self.before

    def __getitem__(self, attribute: str) -> Any:
        """A column as it will be; ``None`` when neither given nor known."""
        return self.values[attribute] if attribute in self.values else self.before.get(attribute)

    def __setitem__(self, attribute: str, value: Any) -> None:
        self.values[attribute] = value

    def changed(self, *attributes: str) -> bool:
        """Whether any of these columns gets another value."""
        return any(name in self.values and (self.new or self.values[name] != self.before.get(name)) for name in attributes)

    def reject(self, field: str, *messages: str) -> None:
        """Says what is wrong with a field (``__all__`` or ``non_field_errors`` for the whole)."""
        self.errors.setdefault(field, []).extend(messages)

    def add_reference(self, field: Reference, value: Any) -> None:
        """Leaves a reference to be found with those of the whole batch."""
        self.references.append((field, value))

    def add_references(self, field: ToMany, values: list[Any]) -> None:
        """Leaves a list of references to be found with those of the whole batch."""
        self.references_many.append((field, values))

    def parse(self, *, partial: bool, optional: frozenset[str] = frozenset()) -> None:
        """Takes the body's fields; ``partial`` leaves alone those that are absent, otherwise ``optional`` ones and those not required."""
        if not isinstance(self.body, Mapping):
            name = {"NoneType": None}.get(type(self.body).__name__, type(self.body).__name__)
            self.reject(NON_FIELD, f"Invalid data. Expected a dictionary, but got {name}." if name else "No data provided")
            return
        for name, field in self.endpoint.writable.items():
            if name in self.body:
                self._take(field, self.body[name])
            elif self.new and field.default is not NONE:
                self._take(field, field.default)
            elif field.required and not partial and name not in optional:
                self.reject(name, schema.REQUIRED)

    def _take(self, field: Field, value: Any) -> None:
        try:
            if (reason := schema.unkeepable(value)) is not None:
                raise colander.Invalid(None, reason)
            field.accept(self, value)
        except colander.Invalid as error:
            self.errors[field.name] = errors_of(error)

    def complete(self) -> None:
        """Gives a new object its id and the columns' defaults."""
        for name, make, value in self.endpoint.defaults:
            if name not in self.values:
                self.values[name] = value if make is None else make(None)
        self.id = self.values.get("id")

    def row(self) -> Any:
        """The row of a new object that was written, as a statement would find it."""
        return self.endpoint.row_type._make([self.values[column.key] for column in self.endpoint.table.c])


def raise_errors(drafts: Sequence[Draft], *, single: bool) -> None:
    """Refuses the batch when any of its drafts has errors.

    :raises Invalid: one object's errors, or a list with one entry for each object
    """
    if not any(draft.errors for draft in drafts):
        return
    if single:
        raise Invalid(next(draft.errors for draft in drafts if draft.errors))
    raise Invalid.batch([draft.errors for draft in drafts])
