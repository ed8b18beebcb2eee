"""Rows of a table as the bodies that create or change objects, with errors by the numbers of the rows."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import FieldErrors, Invalid
from netinv_core.write import identification

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

ROW_NUMBER = "row"  # member of a row's errors
ID = "id"


@dataclasses.dataclass(frozen=True)
class JoinedColumns:
    """Columns that together name what several ``fields`` hold, such as the port at an end of a cable (hook
    ``netinv_joined_columns``).

    ``read(cells)`` gets the texts of the columns that are there, by name, and returns members of a body; it raises
    ``ValueError`` with the reason for texts that do not fit together. ``aliases`` are further names of the columns.
    """

    names: Sequence[str]
    fields: Sequence[str]
    read: Callable[[Mapping[str, str]], dict[str, Any]]
    help: str
    aliases: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class ParsedRows:
    """Bodies of the rows of a table, with the errors of cells that cannot be converted.

    ``numbers`` are the numbers of the rows in the file. ``fields`` are the fields that the columns set.
    """

    bodies: list[dict[str, Any]]
    errors: list[FieldErrors]
    numbers: list[int]
    fields: set[str]

    def raise_errors(self) -> None:
        """Rejects rows with errors.

        :raises Invalid: with one entry for each row
        """
        if any(self.errors):
            raise number_rows(Invalid.batch(self.errors), self.numbers)

    @contextlib.contextmanager
    def numbered_errors(self) -> Iterator[None]:
        """Adds the number of the row to the errors of each item, within the block."""
        try:
            yield
        except Invalid as error:
            raise number_rows(error, self.numbers) from error


def number_rows(error: Invalid, numbers: Sequence[int]) -> Invalid:
    """An error of a list with the number of the row in the entry of each row that has errors."""
    if error.object_count is None:
        return error
    objects, summary = error.body[: error.object_count], error.body[error.object_count :]
    entries = zip(numbers, objects, strict=False)
    return Invalid([*({ROW_NUMBER: number, **item} if item else item for number, item in entries), *summary])


def match(uow: UnitOfWork, endpoint: Endpoint, rows: ParsedRows) -> None:
    """Sets the ids of rows of a table without a column of ids, by their natural keys; adds errors of other rows.

    :raises Invalid: for a table without such a key
    """
    if ID in rows.fields:
        return
    key = identification.key_fields(endpoint, rows.fields)
    if key is None:
        raise Invalid.field(ID, "The table has neither a column id nor columns that identify the objects.")
    ids, errors = identification.match(uow, endpoint, rows.bodies, key)
    for body, errors_of_row, object_id, errors_of_match in zip(rows.bodies, rows.errors, ids, errors, strict=True):
        errors_of_row |= errors_of_match
        if object_id is not None:
            body[ID] = str(object_id)
