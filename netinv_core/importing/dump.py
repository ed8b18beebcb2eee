"""Dumps of other inventories, and the declarations by which an application maps their models to its own.

A dump holds the fields of objects by model and key, in the terms of Django's ``dumpdata``: references are keys, lists
of references are lists of keys, and content types are ``[app, model]``. Readers make it from a file
(:mod:`netinv_import.dumpdata`), a database or a service; :mod:`netinv_import.netbox` imports it. The
objects are in a temporary database (:mod:`netinv_core.importing.rows`), not in memory.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from netinv_core.importing.rows import FieldRows, RowStore
from netinv_core.importing.rows import Fields as Fields

Key = tuple[str, Any]
Needs = Mapping[str, Mapping[Any, Fields]]

CONTENT_TYPE_LENGTH = 2
BOOKKEEPING = frozenset({"created", "last_updated"})
TREE = frozenset({"lft", "rght", "tree_id", "level"})
FIELD_NAMES = {"custom_field_data": "custom_fields"}


class RuleError(ValueError):
    """Error of a rule for an import that is unknown, or does not fit the source."""


@dataclasses.dataclass(frozen=True)
class Source:
    """Mapping of a model of a dump to the resource with the label ``to``; only differences are declared.

    Fields of the same name are copied; references and content types are translated.

    :param adapt: ``adapt(dump, fields)`` rewrites the fields of an object before anything else
    :param fixed_values: values, in the dump's terms, for fields that the dump lacks
    :param rename: names here by names in the dump
    :param drop: fields that repeat what the dump says elsewhere
    :param omit: fields that cannot be imported, with the reason for the report
    :param deferred: references (by their names here) that are set when all objects exist, as their targets refer back
    :param by: columns that identify an object that exists here already; the last one may not be null. Default: the
        natural key of the resource, when it is unique
    :param parent: the reference to the object that this one is a part of; without it, the part is skipped
    :param needs: objects that this system requires and dumps lack: fields by label and key, or a function of the dump
    :param first: objects of this model are imported before all others
    :param prepare: ``prepare(dump)`` rewrites objects of the model together, before anything is mapped
    :param last: objects of this model are prepared and imported after all others
    :param skip: ``skip(dump, fields)`` returns why an object has no place here, or an empty text
    :param usual: defaults there of fields without a field here, which are not worth keeping
    :param adds: lists whose values are added to those here; none is removed
    :param refers: the dump's models that fields without a field here refer to; their values are kept as names
    """

    to: str
    adapt: Callable[[Dump, Fields], Fields] | None = None
    fixed_values: Fields = dataclasses.field(default_factory=dict)
    rename: Mapping[str, str] = dataclasses.field(default_factory=dict)
    drop: Sequence[str] = ()
    omit: Mapping[str, str] = dataclasses.field(default_factory=dict)
    deferred: Sequence[str] = ()
    by: Sequence[str] = ()
    parent: str = ""
    needs: Needs | Callable[[Dump], Needs] = dataclasses.field(default_factory=dict)
    first: bool = False
    prepare: Callable[[Dump], None] | None = None
    last: bool = False
    skip: Callable[[Dump, Fields], str] = lambda dump, fields: ""
    usual: Fields = dataclasses.field(default_factory=dict)
    refers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    adds: Sequence[str] = ()

    def name_of(self, dump_name: str) -> str:
        """Returns the name here of a field of the dump."""
        return self.rename.get(dump_name, FIELD_NAMES.get(dump_name, dump_name))

    def imports(self, dump_name: str, fields: Fields) -> bool:
        """False for dropped fields and those that NetBox computes: with an underscore first, counts and trees."""
        if dump_name in self.usual and fields[dump_name] == self.usual[dump_name]:
            return False
        computed = dump_name.startswith("_") or dump_name.endswith("_count") or dump_name in BOOKKEEPING
        return not (computed or dump_name in self.drop or ("tree_id" in fields and dump_name in TREE))

    def needed(self, dump: Dump) -> Needs:
        """Returns the objects that this system requires and the dump lacks."""
        return self.needs(dump) if callable(self.needs) else self.needs


@dataclasses.dataclass(frozen=True)
class Part:
    """A model whose objects become entries of the list ``field`` of other objects.

    Example: a tagged item becomes an entry in the ``tags`` of its object. ``owner`` names the fields with the owner's
    content type and key, ``value`` the field that refers to an object of the dump's model ``of``.
    """

    field: str
    owner: tuple[str, str]
    value: str
    of: str

    def owner_of(self, fields: Fields) -> Key:
        """Returns the model and key of the object that a part belongs to."""
        return content_type(fields[self.owner[0]]) or "", fields[self.owner[1]]


@dataclasses.dataclass(frozen=True)
class Derived:
    """A model that this system computes from the others; its objects are not imported, with this ``reason``."""

    reason: str


@dataclasses.dataclass(frozen=True)
class Excluded:
    """A model without a place here; its objects are skipped, with this ``reason``.

    ``fields`` are read nevertheless, for what other objects say of them.
    """

    reason: str
    fields: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class Folded:
    """A model whose objects become values of other objects.

    ``fold(dump)`` writes the values into the fields of the other objects. It returns for each key the object that has
    the values, or the reason why there is none. Folds run in the order of the models' names, before anything is mapped.
    """

    fold: Callable[[Dump], Mapping[Any, Key | str]]


@dataclasses.dataclass(frozen=True)
class NamedModel:
    """A model whose objects are kept as names: as text in the custom fields of the objects that refer to them.

    ``fields`` are the fields, beside those that name an object, that the text contains; ``package`` is the distribution
    that imports the objects whole.
    """

    fields: Sequence[str] = ()
    package: str = ""

    @property
    def remedy(self) -> str:
        """Advice to install the package that imports the objects whole, as the end of a sentence; blank without one."""
        return f"; install {self.package} to import them whole" if self.package else ""


Declaration = Source | Part | Derived | Excluded | Folded | NamedModel
NAME_FIELDS = (
    "name",
    "model",
    "address",
    "prefix",
    "cid",
    "asn",
    "label",
    "ssid",
    "account",
    "slug",
    "username",
    "mac_address",
    "version",
)


class Dump:
    """The objects of a dump: fields by model and key.

    ``references`` has the model that a field refers to, by model and field, where the source says so. ``moved`` has the
    models that objects of a model were moved to.
    """

    def __init__(
        self,
        objects: Mapping[str, Mapping[Any, Fields]] | None = None,
        references: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        self._store = RowStore()
        self.objects: dict[str, FieldRows] = {}
        self.references = dict(references or {})
        for label, fields_by_key in (objects or {}).items():
            self.rows(label).update(fields_by_key)
        self.moved: dict[str, set[str]] = {}
        self._rules: dict[str, list[str]] = {}
        self._uses: dict[tuple[str, str], collections.Counter[Any]] = {}

    def __len__(self) -> int:
        return sum(map(len, self.objects.values()))

    def rows(self, label: str) -> FieldRows:
        """Returns the objects of a model; none for one that the dump does not have yet."""
        if label not in self.objects:
            self.objects[label] = self.new_rows()
        return self.objects[label]

    def new_rows(self) -> FieldRows:
        """Returns rows that are in the store of the dump, and not one of its models yet."""
        return self._store.new_rows()

    def replace(self, label: str, rows: FieldRows) -> None:
        """Replaces the objects of a model."""
        self.objects[label].drop()
        self.objects[label] = rows

    def uses(self, label: str, name: str) -> collections.Counter[Any]:
        """Counts the objects of a model by the value of a field; cached."""
        if (label, name) not in self._uses:
            rows: Mapping[Any, Fields] = self.objects.get(label, {})
            self._uses[label, name] = collections.Counter(fields.get(name) for fields in rows.values())
        return self._uses[label, name]

    def get(self, label: str, key: Any) -> Fields:
        """Returns the fields of an object; empty when it is not in the dump."""
        rows: Mapping[Any, Fields] = self.objects.get(label, {})
        return rows.get(key, {})

    def add_rules(self, rules: Sequence[str]) -> None:
        """Adds rules for the conversion, ``name=value``.

        :raises RuleError: when one has another form
        """
        for rule in rules:
            name, equals, value = rule.partition("=")
            if not equals or not value:
                raise RuleError(f"the rule {rule!r} has not the form name=value")
            self._rules.setdefault(name, []).append(value)

    def take_rule(self, name: str) -> list[str]:
        """Returns the values of a rule; every rule has to be taken by one conversion."""
        return self._rules.pop(name, [])

    def check_rules(self) -> None:
        """Checks that all rules have been taken.

        :raises RuleError: when one is left
        """
        if self._rules:
            raise RuleError(f"there is no rule {', '.join(sorted(self._rules))} for this source")

    def move(self, label: str, targets: Mapping[Any, str]) -> None:
        """Moves objects to other models (``targets`` by key), and what refers to them by content type and key."""
        rows = self.objects[label]
        for key, target in targets.items():
            self.rows(target)[key] = rows.pop(key)
        self.moved.setdefault(label, set()).update(targets.values())
        for (owner, field), to in list(self.references.items()):
            for target in self.moved[label] if owner == label else ():
                self.references.setdefault((target, field), to)
        for owner, others in list(self.objects.items()):
            for key, fields in others.items():
                if changed := _repoint_references(fields, label, targets):
                    self.set((owner, key), **changed)

    def set(self, owner: Key, **values: Any) -> None:
        """Sets fields of an object of the dump."""
        label, number = owner
        self.objects[label][number] = {**self.objects[label][number], **values}

    def name(self, label: str, key: Any, also: Sequence[str] = ()) -> str:
        """Returns what an object is called: the names of its ancestors and its own, and the fields ``also``."""
        names: list[str] = []
        current, seen = key, set()
        while current is not None and current not in seen:
            seen.add(current)
            fields = self.get(label, current)
            names.insert(0, str(next((fields[name] for name in NAME_FIELDS if fields.get(name)), current)))
            current = fields.get("parent")
        details = [str(self.get(label, key)[name]) for name in also if self.get(label, key).get(name)]
        return " / ".join(names) + (f" ({', '.join(details)})" if details else "")


def _repoint_references(fields: Fields, label: str, targets: Mapping[Any, str]) -> dict[str, Any]:
    """Returns the content types of generic references (``…_type``, ``…_id``) to objects that were moved."""
    return {
        name: targets[key].split(".")
        for name, value in fields.items()
        if name.endswith("_type")
        and content_type(value) == label
        and (key := fields.get(f"{name.removesuffix('_type')}_id")) in targets
    }


def content_type(value: Any) -> str | None:
    """Returns the label of a content type as a dump has it, ``[app, model]``; ``None`` for any other value."""
    if isinstance(value, list) and len(value) == CONTENT_TYPE_LENGTH and all(isinstance(part, str) for part in value):
        return ".".join(value).lower()
    return None
