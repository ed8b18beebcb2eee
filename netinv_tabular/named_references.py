"""References by the names that people use: a name, a slug, the text that pages show, in any case.

What names exactly one object by its natural attribute stays as it is. Other texts are looked for in the columns that
name objects of the target, and in its display names; they become ids. A constant number of statements for each target.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter, lower
from netinv_core.errors import short
from netinv_core.fields import Choice, Reference, Status, ToMany, ToOne, generic_pairs
from netinv_core.nearest import did_you_mean, nearest_names
from netinv_core.sql import lookups
from netinv_core.sql.plan import fetch_together
from netinv_core.sql.plans import plan_of
from netinv_core.sql.union import Union
from netinv_core.write.references import statuses_for

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

MAX_TEXTS = 2000  # different texts of a target that are looked for
MAX_NAMES = 5000  # names of a target among which the nearest are looked for
MAX_ADVISED = 50  # different texts that names are proposed for: each takes up to 10 ms
MAX_LISTED = 5
MAX_WORDS = 6  # of a display name, at each of which the name of the object may begin
NONE_OF = "No {} is called “{}”."
SEVERAL = "Several {} are called “{}”: {}. Name one by its id, or by more columns."
Scopes = Mapping[str, Collection[str]]  # fields that have to agree with those of the object meant, by reference


@dataclasses.dataclass(frozen=True)
class GenericTarget:
    """The field with the id of an object of any model, and the model that its row states."""

    name: str
    target: Endpoint


@dataclasses.dataclass(frozen=True)
class Use:
    """A text that refers to an object: the member of a container that holds it, and the row and the field it is in."""

    container: Any
    member: Any
    text: str
    field: Reference | ToMany | GenericTarget
    place: int

    @property
    def stands(self) -> bool:
        """True while nothing has replaced the text."""
        value = self.container[self.member]
        return _text_of(self.field, value) == self.text


@dataclasses.dataclass(frozen=True)
class Candidate:
    """An object that a text may mean: its id, its row, and its display name."""

    key: Any
    row: Mapping[str, Any]
    display: str


class NamedReferences:
    """The references by text of the rows of a table. :meth:`resolve` replaces those that mean one object by its id."""

    def __init__(self, uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[dict[str, Any]], scopes: Scopes) -> None:
        self.uow, self.endpoint, self.bodies = uow, endpoint, bodies
        self.scopes = scopes
        self.uses = [use for place, body in enumerate(bodies) for use in _uses(endpoint, body, place)]
        self.found: dict[tuple[Endpoint, str], list[Candidate]] = {}

    def resolve(self) -> None:
        """Replaces names by ids, and the labels of choices by their values."""
        self._choices()
        wanted: dict[Endpoint, set[str]] = {}
        for use in self.uses:
            assert use.field.target is not None
            wanted.setdefault(use.field.target, set()).add(use.text)
        if not wanted:
            return
        self._find({target: sorted(texts)[:MAX_TEXTS] for target, texts in wanted.items()}, folded=False)
        missing = {
            target: [text for text in sorted(texts)[:MAX_TEXTS] if (target, text) not in self.found]
            for target, texts in wanted.items()
        }
        self._find({target: texts for target, texts in missing.items() if texts}, folded=True)
        for use in sorted(self.uses, key=lambda use: use.field.name in self.scopes):
            self._replace(use)

    def _replace(self, use: Use) -> None:
        """Replaces a text by the id of the object that it means, unless the write finds it by itself."""
        candidates = self._find_candidates(use)
        if len(candidates) != 1:
            return
        (only,) = candidates
        assert use.field.target is not None
        natural = use.field.target.natural_attribute
        is_stated = isinstance(use.container[use.member], Mapping)  # a text by itself is taken for an id
        is_exact = is_stated and natural is not None and only.row.get(natural) == use.text
        if not is_exact or len(self.found[use.field.target, use.text]) > 1:
            use.container[use.member] = str(only.key)

    def _find_candidates(self, use: Use) -> list[Candidate]:
        """The candidates for a text, within the site, device … of its row."""
        assert use.field.target is not None
        candidates = self.found.get((use.field.target, use.text), [])
        for name in self.scopes.get(use.field.name, ()):
            key = self._key_of(use.place, name)
            column = f"{name}_id"
            if key is not None:
                candidates = [item for item in candidates if str(item.row.get(column, key)) == str(key)]
        return candidates

    def _key_of(self, place: int, name: str) -> Any:
        """The id of the object that another field of a row refers to, as far as it is known."""
        field, value = self.endpoint.writable.get(name), self.bodies[place].get(name)
        if not isinstance(field, Reference) or field.target is None:
            return None
        text = _text_of(field, value)
        if text is None:
            return field.target.parse_key(value) if isinstance(value, str) else None
        found = self.found.get((field.target, text), [])
        return found[0].key if len(found) == 1 else None

    def errors(self) -> Iterator[tuple[int, str, str]]:
        """Place, field and message of each text that still means no object or several; the nearest names are told."""
        unresolved = [use for use in self.uses if use.stands and len(self._find_candidates(use)) != 1]
        nearest_names = _NearestNames(self._names)
        for use in unresolved:
            target = use.field.target
            assert target is not None
            candidates = self._find_candidates(use) or []
            if candidates:
                listed = ", ".join(item.display for item in candidates[:MAX_LISTED])
                more = " …" if len(candidates) > MAX_LISTED else ""
                yield use.place, use.field.name, SEVERAL.format(target.plural, short(use.text), listed + more)
                continue
            near = nearest_names.to(use.text, target)
            message = NONE_OF.format(target.title, short(use.text))
            yield use.place, use.field.name, message + did_you_mean(near)

    def _names(self, target: Endpoint) -> list[str]:
        """Names of objects that the user may view."""
        column = target.table.c.get(target.natural_attribute or "") if target.natural_attribute else None
        columns = list(dict.fromkeys([*([column] if column is not None else []), *_columns(target)]))
        if not columns:
            return []
        select = sa.select(*columns).where(*permissions.visible(self.uow, target, target.table)).limit(MAX_NAMES)
        return sorted({str(value) for row in self.uow.execute(select) for value in row if value})

    # -- looking for objects

    def _find(self, wanted: Mapping[Endpoint, Sequence[str]], *, folded: bool) -> None:
        """Finds the candidates of texts, by equal names, or else (``folded``) in any case and by display names."""
        targets = {target: texts for target, texts in wanted.items() if _columns(target)}
        if not targets:
            return
        parts = [self._part(target, f"texts{number}", folded) for number, target in enumerate(targets)]
        wanted_texts = [_all_parts(texts) if folded else list(texts) for texts in targets.values()]
        parameters = {f"texts{number}": texts for number, texts in enumerate(wanted_texts)}
        results = Union(parts).rows(self.uow, parameters)
        rows_of = [
            [dict(zip([column.key for column in columns], row, strict=True)) for row in rows]
            for (columns, *_), rows in zip(parts, results, strict=True)
        ]
        displays = self._displays(list(zip(targets, rows_of, strict=True)))
        for (target, texts), rows, shown in zip(targets.items(), rows_of, displays, strict=True):
            candidates = [Candidate(row["id"], row, shown.get(row["id"], "")) for row in rows]
            for text in texts:
                if matching := _best(target, text, candidates, folded=folded):
                    self.found[target, text] = matching

    def _part(self, target: Endpoint, parameter: str, folded: bool) -> tuple[list[Any], Any, Any]:
        """SELECT of the objects that have one of the texts as a name, in a statement with others."""
        table, columns = target.table, _columns(target)
        scoped = {f"{name}_id" for names in self.scopes.values() for name in names}
        shown = [table.c.id, *columns, *(table.c[name] for name in sorted(scoped) if name in table.c)]
        natural = target.natural_attribute
        if natural is not None and natural in table.c and table.c[natural] not in columns:
            shown.append(table.c[natural])
        compared = [sa.type_coerce(lower(column), sa.Text) if folded else column for column in columns]
        condition = sa.or_(*(in_parameter(column, parameter) for column in compared))
        return shown, table, sa.and_(condition, *permissions.visible(self.uow, target, table))

    def _displays(self, found: Sequence[tuple[Endpoint, list[dict[str, Any]]]]) -> list[dict[Any, str]]:
        """The display names of objects by id, for each target; one statement."""
        requests = [(plan_of(target, "brief"), [row["id"] for row in rows]) for target, rows in found]
        if not any(keys for _, keys in requests):
            return [{} for _ in found]
        results = fetch_together(self.uow, requests)
        return [{key: str(item.get("display", "")) for key, item in shown} for shown in results]

    # -- choices

    def _choices(self) -> None:
        """Replaces the labels of choices and names of statuses by their values, in any case."""
        for field in self.endpoint.writable.values():
            values = _choices_of(self.uow, self.endpoint, field)
            for body in self.bodies if values else ():
                value = body.get(field.name)
                if isinstance(value, str) and value not in values.values():
                    body[field.name] = values.get(value.strip().casefold(), value)


def _choices_of(uow: UnitOfWork, endpoint: Endpoint, field: Any) -> dict[str, str]:
    """The values of a field with choices, by their labels and themselves in small letters."""
    if isinstance(field, Status):
        items: Iterable[tuple[str, str]] = statuses_for(uow, field, endpoint)
    elif isinstance(field, Choice):
        items = [(str(value), str(label)) for value, label in field.choices.items if isinstance(value, str)]
    else:
        return {}
    pairs = list(items)
    return {**{label.casefold(): value for value, label in pairs}, **{value.casefold(): value for value, _ in pairs}}


def _uses(endpoint: Endpoint, body: dict[str, Any], place: int) -> Iterator[Use]:
    """The texts of a body that refer to objects."""
    for name, field in endpoint.writable.items():
        if name not in body or isinstance(field, Status) or not isinstance(field, Reference | ToMany):
            continue
        if field.target is None or field.plain or (isinstance(field, ToMany) and field.by is not None):
            continue
        container: Any = body[name] if isinstance(field, ToMany) and not isinstance(field, ToOne) else body
        members = range(len(container)) if isinstance(container, list) else [name] if container is body else []
        for member in members:
            text = _text_of(field, container[member])
            if text is not None:
                yield Use(container, member, text, field, place)
    for type_name, id_name in sorted(generic_pairs(endpoint)):
        target = endpoint.registry.get(str(body.get(type_name)))
        if target is not None and body.get(id_name) is not None:
            generic = GenericTarget(id_name, target)
            text = _text_of(generic, body[id_name])
            if text is not None:
                yield Use(body, id_name, text, generic, place)


def _text_of(field: Reference | ToMany | GenericTarget, value: Any) -> str | None:
    """The text by which a value names an object; ``None`` for ids and several attributes."""
    target = field.target
    assert target is not None
    if isinstance(value, Mapping) and len(value) == 1 and target.natural_attribute in value:
        value = value[target.natural_attribute]
    if not isinstance(value, str) or not value.strip() or target.parse_key(value.strip()) is not None:
        return None
    return value.strip()


def _columns(target: Endpoint) -> list[Any]:
    """The columns of a table with the names of objects."""
    resource = target.resource.of or target.resource
    names = [target.natural_attribute, "name", "slug", resource.name_attribute, *resource.display[1:]]
    shown = [name for name in dict.fromkeys(names) if name and name in target.table.c and name in target.fields]
    return [column for name in shown if lookups.python_type(column := target.table.c[name]) is str]


def _parts(text: str) -> list[str]:
    """The parts of a display name that may be the name of the object: all of it, what follows a word, what precedes
    brackets.
    """
    words = text.split(" ")
    rests = [" ".join(words[start:]) for start in range(min(len(words), MAX_WORDS))]
    before = text.partition(" (")[0]
    return list(dict.fromkeys([text, *rests, before]))


def _all_parts(texts: Iterable[str]) -> list[str]:
    return sorted({part.lower() for text in texts for part in _parts(text)})


def _best(target: Endpoint, text: str, candidates: Sequence[Candidate], *, folded: bool) -> list[Candidate]:
    """The candidates that a text means best."""
    natural = [target.natural_attribute] if target.natural_attribute else []
    names = [column.key for column in _columns(target)]
    tests: list[Callable[[Candidate], bool]] = [
        lambda item: any(item.row.get(name) == text for name in natural),
        lambda item: any(item.row.get(name) == text for name in names),
    ]
    if folded:
        tests += [
            lambda item: item.display == text,
            lambda item: any(str(item.row.get(name)).casefold() == text.casefold() for name in names),
            lambda item: item.display.casefold() == text.casefold(),
        ]
    return next((found for test in tests if (found := [item for item in candidates if test(item)])), [])


class _NearestNames:
    """The nearest names to texts, each looked for once. ``names_of`` reads the names of a target."""

    def __init__(self, names_of: Callable[[Endpoint], list[str]]) -> None:
        self._names_of = names_of
        self._names: dict[Endpoint, list[str]] = {}
        self._found: dict[tuple[Endpoint, str], list[str]] = {}

    def to(self, text: str, target: Endpoint) -> list[str]:
        """The nearest names of objects of a target; none for a text after :data:`MAX_ADVISED` other ones."""
        if (target, text) not in self._found:
            if len(self._found) >= MAX_ADVISED:
                return []
            if target not in self._names:
                self._names[target] = self._names_of(target)
            self._found[target, text] = nearest_names(text, self._names[target])
        return self._found[target, text]
