"""The mapping step of an import: the columns of a file, or members of its objects, and the fields that they are
imported as.

It is guessed by the names, changed on the page of the preview, and remembered for the user and the model.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.errors import BadRequest
from netinv_tabular import headers
from netinv_web import frame, preferences
from netinv_web.bulk.selection import Members
from netinv_web.forms.form import last_text

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

PREFIX = "_column_"  # members of the form: the field of the column at a place
IGNORED = "-"  # value of a column that is not imported
MAX_NAMES, MAX_LENGTH, MAX_MODELS = 200, 200, 100  # of what is remembered
TWICE = "Two columns of the file are imported as {}: ignore one of them."


@dataclasses.dataclass(frozen=True)
class MappedColumn:
    """A column of a file: its place and name, the field that it is imported as (blank if it is ignored), and examples
    of its cells.
    """

    place: int
    name: str
    column: str
    examples: Sequence[str] = ()

    @property
    def member(self) -> str:
        """The member of the form."""
        return f"{PREFIX}{self.place}"


@dataclasses.dataclass(frozen=True)
class Stated:
    """Known parts of a mapping beside the names: the fields that the form states by place, and remembered ones."""

    by_place: Mapping[int, str] = dataclasses.field(default_factory=dict)
    remembered: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def mapping_of(self, uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str]) -> dict[str, str]:
        """The fields by the names of the columns; ignored columns are left out.

        :raises BadRequest: for two columns of one field
        """
        mapping = headers.recognise(uow, endpoint, names)
        columns = headers.columns_of(uow, endpoint)
        known = set(columns.names)
        for name in names:
            column = self.remembered.get(name, "")
            if column in known and column not in mapping.values():
                mapping[name] = column
            elif column == IGNORED:
                mapping.pop(name, None)
        for place, name in enumerate(names):
            if (stated := self.by_place.get(place)) == IGNORED:
                mapping.pop(name, None)
            elif stated:
                mapping[name] = stated
        for column, count in collections.Counter(mapping.values()).items():
            if count > 1:
                raise BadRequest(TWICE.format(columns.writable.get(column, column)))
        return mapping


def stated_in(request: Request, endpoint: Endpoint, members: Members) -> Stated:
    """Fields that the form states, and those that the user has chosen for such columns before."""
    by_place = {
        int(place): last_text(members, name)
        for name in members
        if name.startswith(PREFIX) and (place := name.removeprefix(PREFIX)).isdecimal() and len(place) <= 4
    }
    remembered = frame.of(request).preferences.import_columns.get(endpoint.label)
    texts = remembered if isinstance(remembered, dict) else {}
    return Stated(
        {place: value for place, value in by_place.items() if value},
        {str(name): value for name, value in texts.items() if isinstance(value, str)},
    )


def remember(request: Request, endpoint: Endpoint, names: Sequence[str], mapping: Mapping[str, str]) -> None:
    """Keeps what differs from the guess; one statement, none if nothing has changed."""
    guess = headers.recognise(request.uow, endpoint, names)
    chosen = {
        name: mapping.get(name, IGNORED)
        for name in names[:MAX_NAMES]
        if mapping.get(name) != guess.get(name) and len(name) <= MAX_LENGTH
    }
    every: Mapping[str, Any] = frame.of(request).preferences.import_columns
    former = every.get(endpoint.label)
    kept = {name: column for name, column in (former or {}).items() if name not in names}
    merged = dict(list({**kept, **chosen}.items())[-MAX_NAMES:])
    if merged == (former or {}):
        return
    others = {label: item for label, item in every.items() if label != endpoint.label}
    latest = dict(list({**others, endpoint.label: merged}.items())[-MAX_MODELS:])
    preferences.store(request, {"import_columns": {label: item for label, item in latest.items() if item}})
