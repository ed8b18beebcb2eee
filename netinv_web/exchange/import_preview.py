"""Preview of an import: what each row creates or changes, and every error at its cell, by a dry run."""

from __future__ import annotations

import dataclasses
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.labels import plural_of, title_of
from netinv_core.write import save, trees
from netinv_core.write import table_rows as rows
from netinv_core.write.dry_run import dry_run
from netinv_web.bulk.preview import Errors, ShownDifference, attempt, differences_of, messages_of
from netinv_web.exchange.column_mapping import MappedColumn
from netinv_web.exchange.import_table import ImportTable
from netinv_web.forms.deletion import Affected, DeniedChanges, changed_along, denied_changes
from netinv_web.forms.form import readable
from netinv_web.lists.columns import NEVER
from netinv_web.paths import object_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

CREATED, UPDATED, UNCHANGED, FAULTY = "created", "updated", "unchanged", "error"
MAX_SHOWN_ROWS = 500
MAX_EXAMPLE = 40  # characters of an example of a cell
MAX_PART = 500  # rows, with what is created along with them, that are written together
NAMES_FAULTY = "Row {}, which this refers to, has errors."
CREATED_LATER = "They are created with the import."
IGNORED = NEVER | {"last_updated", "created"}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A cell of a row, with its errors, and what its field was before where the row changes it."""

    text: str
    errors: Sequence[str] = ()
    before: str | None = None


@dataclasses.dataclass(frozen=True)
class ImportRow:
    """A row of a preview: its number in the file, what it does, its cells, and what concerns none of them."""

    number: int
    state: str
    cells: Sequence[Cell]
    path: str = ""
    errors: Sequence[str] = ()
    differences: Sequence[ShownDifference] = ()


@dataclasses.dataclass
class ImportPreview:
    """The outcome of an import. ``rows`` are the shown ones, those with errors first."""

    columns: Sequence[str] = ()
    rows: list[ImportRow] = dataclasses.field(default_factory=list)
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    others: Sequence[Affected] = ()
    denied: DeniedChanges | None = None
    encoding: str = ""
    mapped: Sequence[MappedColumn] = ()

    @property
    def mapping(self) -> dict[str, str]:
        """The fields by the names of the columns of the file."""
        return {column.name: column.column for column in self.mapped if column.column}

    @property
    def ignored(self) -> list[str]:
        """The names of the columns of the file that are not imported."""
        return [column.name for column in self.mapped if not column.column]

    @property
    def applicable(self) -> bool:
        """True when something would be written, and nothing is refused."""
        return not self.counts[FAULTY] and bool(self.counts[CREATED] + self.counts[UPDATED])

    @property
    def total(self) -> int:
        """The number of rows of the file."""
        return sum(self.counts.values())


def parts_of(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable, created: int = 0) -> Iterator[list[int]]:
    """The places of the rows that are written together: all of them change objects, or all of them create some.

    The more objects are ``created`` along with the rows, the fewer rows has a part.

    A tree is locked before the first part. To create its nodes first and then change some would let two imports, which
    may both create, wait for each other.
    """
    rows_and_created = len(table.bodies) + created
    most = max(1, MAX_PART * len(table.bodies) // rows_and_created) if rows_and_created else MAX_PART
    if any(map(table.changes, range(len(table.bodies)))):
        trees.lock_whole(uow, [endpoint])
    for step in table.order.steps:
        for changing in (True, False):
            places = [place for place in step if table.changes(place) is changing]
            yield from (places[start : start + most] for start in range(0, len(places), most))


def write(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable, places: Sequence[int]) -> None:
    """Writes the rows of a part.

    :raises RequestError: for rows that are refused
    """
    part = [table.bodies[place] for place in places]
    if not part:
        return
    if table.changes(places[0]):
        save.update(uow, endpoint, part, partial=True, listed=True)
    else:
        ids = [table.order.ids.get(place) or uuid.uuid4() for place in places] if table.order.ids else None
        save.create(uow, endpoint, part, ids=ids)


def write_all(uow: UnitOfWork, endpoint: Endpoint, table: ImportTable) -> None:
    """Writes all rows.

    :raises RequestError: for rows that are refused
    """
    for places in parts_of(uow, endpoint, table):
        write(uow, endpoint, table, places)


def preview(
    uow: UnitOfWork, endpoint: Endpoint, table: ImportTable, counted: Counter[str] | None = None
) -> ImportPreview:
    """Writes the rows in a dry run. Rows with errors do not hide those of others.

    :param counted: the numbers of objects, by label, that are created along with the rows and are too many to try
    """
    result = ImportPreview(table.names or table.columns, encoding=table.encoding, mapped=_mapped_columns(table))
    errors: Errors = {place: error for place, error in enumerate(table.errors) if error}
    states: dict[int, str] = {}
    tried = uow.as_outline if counted else lambda: uow
    with dry_run(uow) as made:
        for places in parts_of(uow, endpoint, table):
            valid = [place for place in places if not _is_faulty(table, place, errors)]
            valid = attempt(uow, valid, lambda part: write(tried(), endpoint, table, part), errors)
            updated = {str(key) for key in uow.change_set.keys_of(endpoint)}
            states |= {place: _state(endpoint, table, place, updated) for place in valid}
    states |= dict.fromkeys(errors, FAULTY)
    changes = {change["object_id"]: change for change in made.changes if change["object_type"] == endpoint.label}
    result.denied = denied_changes(uow, made)
    result.others = [*changed_along(uow, endpoint, made), *_count_created(uow, counted or {})]
    result.counts = {state: list(states.values()).count(state) for state in (CREATED, UPDATED, UNCHANGED, FAULTY)}
    shown = sorted(states, key=lambda place: (states[place] != FAULTY, place))[:MAX_SHOWN_ROWS]
    result.rows = [
        _row(endpoint, table, place, states[place], errors.get(place), changes.get(_key(endpoint, table, place)))
        for place in shown
    ]
    return result


def _count_created(uow: UnitOfWork, counted: Mapping[str, int]) -> list[Affected]:
    """The objects that are created along with the rows, of which the numbers alone are known."""
    return [
        Affected(title_of(endpoint) if count == 1 else plural_of(endpoint), count, (), notes=[CREATED_LATER])
        for label, count in counted.items()
        if count and (endpoint := uow.registry[label])
    ]


def _mapped_columns(table: ImportTable) -> list[MappedColumn]:
    """The columns of the file with what they are imported as, and examples of their cells."""
    columns = []
    for place, name in enumerate(table.names):
        texts = dict.fromkeys(row[place] for row in table.cells[:MAX_SHOWN_ROWS] if row[place])
        examples = [text if len(text) <= MAX_EXAMPLE else f"{text[:MAX_EXAMPLE]}…" for text in list(texts)[:2]]
        columns.append(MappedColumn(place, name, table.mapping.get(name, ""), examples))
    return columns


def _is_faulty(table: ImportTable, place: int, errors: Errors) -> bool:
    """True for a row with an error. A row that refers to such a row gets one."""
    for other, field in table.order.named.get(place, {}).items():
        if other in errors and place not in errors:
            errors[place] = {field: [NAMES_FAULTY.format(table.numbers[other])]}
    return place in errors


def _state(endpoint: Endpoint, table: ImportTable, place: int, updated: Collection[str]) -> str:
    if not table.changes(place):
        return CREATED
    return UPDATED if _key(endpoint, table, place) in updated else UNCHANGED


def _key(endpoint: Endpoint, table: ImportTable, place: int) -> str:
    """The id of the object that a row changes, as in the change of a dry run; empty for a new object."""
    return str(endpoint.parse_key(str(table.bodies[place][rows.ID]))) if table.changes(place) else ""


def _row(
    endpoint: Endpoint, table: ImportTable, place: int, state: str, error: Any, change: Mapping[str, Any] | None
) -> ImportRow:
    at_columns, general = _by_column(table, table.explain(place, error))
    differences = {} if change is None or state != UPDATED else _differences(endpoint, table, change)
    cells = []
    for name, text in zip(table.columns, table.cells[place], strict=True):
        known = differences.pop(name, None)
        cells.append(Cell(text, at_columns.get(name, ()), known[0].before or "–" if known else None))
    key = _key(endpoint, table, place)
    path = object_path(endpoint, key) if key and state in (UPDATED, UNCHANGED) else ""
    rest = [difference for items in differences.values() for difference in items]
    return ImportRow(table.numbers[place], state, cells, path, general, rest)


def _by_column(table: ImportTable, error: Any) -> tuple[dict[str, list[str]], list[str]]:
    """The messages of a row's error by column, and those that belong to none."""
    if error is None:
        return {}, []
    if not isinstance(error, Mapping):
        return {}, messages_of(error)
    at_columns: dict[str, list[str]] = {}
    general: list[str] = []
    for name, messages in error.items():
        column = table.column_of(str(name))
        if column is None:
            general += messages_of({name: messages})
        else:
            at_columns.setdefault(column, []).append(readable(messages))
    return at_columns, general


def _differences(endpoint: Endpoint, table: ImportTable, change: Mapping[str, Any]) -> dict[str, list[ShownDifference]]:
    """The differences of an update, by the column of the changed field, or by the field's name."""
    before, after = change["before"] or {}, change["after"] or {}
    names = [name for name in change["fields"] if name in endpoint.fields and name not in IGNORED]
    return {
        table.column_of(name) or name: differences_of(endpoint, name, before.get(name), after.get(name))
        for name in names
    }
