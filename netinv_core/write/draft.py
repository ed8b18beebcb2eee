"""Drafts: the state of objects between a request body and the database. One object is a batch of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import colander

from netinv_core.errors import NO_DATA, NON_FIELD, FieldErrors, Invalid, not_an_object
from netinv_core.fields import NONE, errors_of, schema
from netinv_core.write import strict_bodies

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field, Reference
    from netinv_core.fields.list_differences import ListDifference
    from netinv_core.uow import UnitOfWork

#: The field of errors that are about several fields, such as a unique set: ``draft.reject(ALL, "…")``.
ALL = "__all__"


class ListField(Protocol):
    """A field whose list is stored in rows of its own."""

    name: str

    # The stored lists of objects by id; one statement.
    def stored_lists(self, uow: UnitOfWork, keys: Sequence[Any]) -> Mapping[Any, list[Any]]: ...
    # Stores the whole list in a draft, or rejects it.
    def set_list(self, draft: Draft, items: list[Any]) -> None: ...


class ReferringField(Protocol):
    """A field that refers to objects of another resource."""

    name: str
    plain: bool

    @property
    def target(self) -> Endpoint | None: ...


class ReferenceListField(ReferringField, ListField, Protocol):
    """A field that refers to several objects of another resource."""

    def reject(self, draft: Draft, errors: list[str]) -> None: ...


@dataclasses.dataclass(eq=False)
class SentReferences:
    """References of a to-many field as sent, to be resolved.

    With a ``difference``, they are what it adds, or what it removes (``removed``); without one, the whole list.
    """

    field: ReferenceListField
    values: list[Any]
    difference: ListDifference | None = None
    removed: bool = False


class Draft:
    """One object of a batch.

    ``body`` is the body as sent. ``before`` is the row in the database, empty for a new object. ``values`` holds the
    columns to write, ``many`` the ids for association tables, both by name. ``extra`` holds values of fields that have
    no column. ``errors`` holds messages by field. ``references`` and ``references_many`` are not yet resolved.
    ``differences`` are changes of lists (:mod:`netinv_core.fields.list_differences`); ``replaces`` is true for a PUT.
    ``noted`` is what rules found before the write that the steps after it need.
    A ``rechecked`` draft is an object as it is, of which every column counts as changed, as another object that its
    rules read has changed.
    """

    __slots__ = (
        "before",
        "body",
        "differences",
        "endpoint",
        "errors",
        "extra",
        "id",
        "many",
        "noted",
        "rechecked",
        "references",
        "references_many",
        "replaces",
        "values",
    )

    def __init__(
        self,
        endpoint: Endpoint,
        body: Mapping[str, Any],
        before: dict[str, Any] | None = None,
        *,
        rechecked: bool = False,
    ) -> None:
        self.endpoint = endpoint
        self.body = body
        self.before = before or {}
        self.values: dict[str, Any] = {}
        self.many: dict[str, list[Any]] = {}
        self.extra: dict[str, Any] = {}
        self.errors: FieldErrors = {}
        self.references: list[tuple[Reference, Any]] = []
        self.references_many: list[SentReferences] = []
        self.differences: list[tuple[ListField, ListDifference]] = []
        self.replaces = False
        self.rechecked = rechecked
        self.noted: tuple[Any, ...] = ()
        self.id: Any = self.before.get("id")

    @property
    def new(self) -> bool:
        """True for an object to be created."""
        return not self.before

    def __getitem__(self, attribute: str) -> Any:
        """The new value of a column, or the present one; ``None`` when it has neither."""
        return self.values[attribute] if attribute in self.values else self.before.get(attribute)

    def __setitem__(self, attribute: str, value: Any) -> None:
        self.values[attribute] = value

    def changed(self, *attributes: str) -> bool:
        """True when any of these columns gets another value."""
        return self.rechecked or any(
            name in self.values and (self.new or self.values[name] != self.before.get(name)) for name in attributes
        )

    def reject(self, field: str, *messages: str) -> None:
        """Adds error messages of a field, or of the whole object (``__all__`` or ``non_field_errors``).

        :raises TypeError: for anything else than texts
        """
        if not all(isinstance(text, str) for text in (field, *messages)):
            raise TypeError(
                f"reject takes the name of a field and messages, all of them texts, not {field!r}, {messages}"
            )
        self.errors.setdefault(field, []).extend(messages)

    def add_reference(self, field: Reference, value: Any) -> None:
        """Adds a reference, to be resolved with those of the whole batch."""
        self.references.append((field, value))

    def add_references(self, field: ReferenceListField, values: list[Any]) -> None:
        """Adds a list of references, to be resolved with those of the whole batch."""
        self.references_many.append(SentReferences(field, values))

    def add_difference(self, field: ReferenceListField, difference: ListDifference) -> None:
        """Adds a change of a list of references, to be resolved with those of the whole batch."""
        self.references_many.append(SentReferences(field, difference.add, difference))
        self.references_many.append(SentReferences(field, difference.remove, difference, removed=True))
        self.differences.append((field, difference))

    def parse(self, *, partial: bool, optional: frozenset[str] = frozenset()) -> None:
        """Parses the fields of the body.

        :param partial: required fields may be absent
        :param optional: required fields that may be absent nevertheless
        """
        self.replaces = not partial and not self.new
        if not isinstance(self.body, Mapping):
            self.reject(NON_FIELD, *([NO_DATA] if self.body is None else not_an_object(self.body)[NON_FIELD]))
            return
        for name in strict_bodies.unknown_members(self.endpoint, self.body):
            self.reject(name, strict_bodies.UNKNOWN)
        for name, field in self.endpoint.writable.items():
            if name in self.body:
                self._accept(field, self.body[name])
            elif self.new and field.default is not NONE:
                self._accept(field, field.default)
            elif field.required and field.default is NONE and not partial and name not in optional:
                self.reject(name, schema.REQUIRED)

    def _accept(self, field: Field, value: Any) -> None:
        try:
            if (reason := schema.storage_error(value)) is not None:
                raise colander.Invalid(None, reason)
            field.accept(self, value)
        except colander.Invalid as error:
            self.errors[field.name] = errors_of(error)

    def complete(self) -> None:
        """Sets the defaults of columns in a new object, its id among them."""
        for name, function, value in self.endpoint.defaults:
            if name not in self.values:
                self.values[name] = value if function is None else function(None)
        self.id = self.values.get("id")

    def row(self) -> Any:
        """The row after the write, as a SELECT would return it."""
        return self.endpoint.row_type._make([self[column.key] for column in self.endpoint.table.c])


def raise_errors(drafts: Sequence[Draft], *, single: bool, listed: bool = True) -> None:
    """Rejects the batch when any of its drafts has errors.

    :param listed: the body has an entry for each object, in place of the errors of the first invalid one
    :raises Invalid: one object's errors, or those of a list
    """
    errors = [draft.errors for draft in drafts]
    if not any(errors):
        return
    if single:
        raise Invalid(next(entry for entry in errors if entry))
    raise Invalid.batch(errors) if listed else Invalid.first(errors)
