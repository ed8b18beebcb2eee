"""Objects of templates on the service's side: loads the attributes that a template uses, for a batch at once.

The renderer's side is :mod:`netinv_extras.templates.renderer.objects`.

The number of statements depends on the attributes that a template mentions, not on the number of objects.
Permissions are those of the user of the request: of other objects the nested representation is visible, and more
only with permission.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.read import listing
from netinv_core.sql.plans import plan_of
from netinv_extras.templates.attributes import Loaded, names_of, nested_objects, properties_of, selected_by
from netinv_extras.templates.members import Member, members_of
from netinv_extras.templates.renderer.absent import nearest
from netinv_extras.templates.renderer.values import (
    HIDDEN,
    META,
    REQUEST,
    WHERE,
    ColumnValue,
    FunctionResult,
    ListedValues,
    NullObject,
    ObjectRef,
    ObjectRefs,
    ShareValue,
    ShownMember,
    Unknown,
    encode,
)
from netinv_extras.templates.sandbox import RenderError

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

ALIASES = {"pk": "id", "cf": "custom_fields", "custom_field_data": "custom_fields", "absolute_url": "url"}
DEEPEST = 20  # relations that a template may follow one after another
_DISPLAY = ("get_", "_display")
_UTILIZATION = re.compile(r"get_(?:(\w+)_)?utilization")
_SCALARS = ("string", "integer", "boolean", "float", "decimal", "choice", "slug", "url", "email", "uuid")
_METHODS = {"get_config_context": "config_context", "get_custom_fields": "custom_fields"}  # that return an attribute


class ObjectLoader:
    """The batches of objects that templates of one unit of work reach, with a cache of their attributes.

    Attributes in ``without`` do not exist: the template of a computed field cannot use computed fields.
    """

    def __init__(self, uow: UnitOfWork, *, without: Collection[str] = ()) -> None:
        self.context, self.without = uow, without
        self.kind = ""
        self._batches: list[ObjectBatch] = []

    def add(self, endpoint: Endpoint, keys: Iterable[Any], *, open: bool = False, depth: int = 0) -> ObjectBatch:
        """Adds a batch of objects. ``open``: all attributes are visible without a check of permissions.

        :raises RenderError: when they are too many relations away
        """
        if depth > DEEPEST:
            raise RenderError(f"it follows more than {DEEPEST} relations one after another")
        batch = ObjectBatch(self, len(self._batches), endpoint, keys, open=open, depth=depth)
        self.kind = self.kind or f"{endpoint.label} {self.context.identity.user_id}"
        self._batches.append(batch)
        return batch

    def column(self, batch: int, name: str) -> ColumnValue | Unknown:
        """Returns an attribute of each object of a batch.

        :raises RenderError: when it is too many relations away
        :raises IndexError: for an unknown batch
        """
        if batch < 0:
            raise IndexError(batch)
        return self._batches[batch].column(name)


class ObjectBatch:
    """Objects of one endpoint whose attributes are loaded together."""

    def __init__(
        self, loader: ObjectLoader, number: int, endpoint: Endpoint, keys: Iterable[Any], *, open: bool, depth: int
    ) -> None:
        self.context, self.endpoint = loader.context, endpoint
        self._loader, self._number, self._open, self._depth = loader, number, open, depth
        self._keys = list(dict.fromkeys(keys))
        self._places = {key: place for place, key in enumerate(self._keys)}
        self._columns: dict[str, ColumnValue | Unknown] = {}

    def object(self, key: Any) -> ObjectRef | None:
        """Returns an object as a variable of a template; ``None`` without a key."""
        return None if key is None else ObjectRef(self._number, self._places[key])

    def objects(self, keys: Iterable[Any] | None = None) -> ObjectRefs:
        """Returns the objects with these keys, or all, in order, as a variable of a template."""
        return ObjectRefs(self._number, [self._places[key] for key in (self._keys if keys is None else keys)])

    def column(self, name: str) -> ColumnValue | Unknown:
        """Returns an attribute of each object; hidden without permission."""
        name = ALIASES.get(name, name)
        if name not in self._columns:
            try:
                self._columns[name] = self._visible_column(name)
            except AttributeError:
                self._columns[name] = Unknown(self.endpoint.title, nearest(name, names_of(self.endpoint)))
        return self._columns[name]

    def _visible_column(self, name: str) -> ColumnValue:
        if name in self._loader.without or name.startswith("_"):
            raise AttributeError(name)
        visible = None if self._open or name in self._brief_names or name == META else self._visible
        loaded = Loaded({}) if visible is not None and not visible and self._keys else self._load(name)
        values = [encode(loaded.values.get(key) if visible is None or key in visible else HIDDEN) for key in self._keys]
        return ColumnValue(values, encode(loaded.null))

    @functools.cached_property
    def _brief_names(self) -> frozenset[str]:
        """Names of the nested representation, which is visible without permission."""
        return frozenset(field.name for field in self.endpoint.brief)

    @functools.cached_property
    def _visible(self) -> set[Any] | None:
        """Ids of the objects that the user may view; ``None`` for all."""
        table = self.endpoint.table
        try:
            limits = permissions.limits(self.context, self.endpoint, "view", table)
        except Denied:
            return set()
        if not limits:
            return None
        permitted = sa.select(table.c.id).where(in_parameter(table.c.id), *limits)
        return set(self.context.execute(permitted, {"keys": self._keys}).scalars())

    def _load(self, name: str) -> Loaded:
        """Loads an attribute of all objects.

        :raises AttributeError: for an unknown or confidential attribute
        """
        member, field = members_of(self.endpoint).get(name), self.endpoint.fields.get(name)
        if member is not None:
            return self._of_member(member)
        if name.startswith(REQUEST):
            return Loaded(self._load_requested(name))
        if field is None:
            method = self._method(name)
            return self._load_related(name) if method is None else method
        if field.write_only or field.confidential:
            raise AttributeError(name)
        if name == "id":
            return Loaded({key: key for key in self._keys})
        if isinstance(field, fields.Reference):
            return self._load_referred(field.target, [field.attribute], open=isinstance(field, fields.Status))
        if isinstance(field, fields.Coalesce):
            references = [self.endpoint.fields[reference] for reference in field.references]
            attributes = [reference.attribute for reference in references if isinstance(reference, fields.Reference)]
            targets = {getattr(reference, "target", None) for reference in references}
            return self._load_referred(targets.pop(), attributes)
        if isinstance(field, fields.Value) and not isinstance(field, fields.Image):
            values = {key: getattr(row, field.attribute) for key, row in self._rows.items()}
            return Loaded(values, None if field.kind in _SCALARS else HIDDEN)
        values = self._load_member(name)
        if isinstance(field, fields.ToMany) and field.target is not None and field.by is None:
            listed = {key: [item["id"] for item in field.items_of(value)] for key, value in values.items()}
            return self._load_objects(field.target, {key: field.of_items(ids) for key, ids in listed.items()})
        return Loaded(self._wrap_nested(values), HIDDEN)

    @functools.cached_property
    def _rows(self) -> Mapping[Any, Any]:
        return listing.rows_of(self.context, self.endpoint.model, self._keys)

    def _load_member(self, name: str) -> dict[Any, Any]:
        """Returns a member of the objects' representations, by id."""
        plan = plan_of(self.endpoint, "full", frozenset(self.endpoint.fields) - {name})
        return {key: members[name] for key, members in plan.fetch(self.context, self._keys)}

    def _load_requested(self, name: str) -> dict[Any, Any]:
        """Returns what the renderer asks besides attributes: properties of the model, or which objects a parameter of
        the list selects.
        """
        if name == META:
            return dict.fromkeys(self._keys, ShownMember(properties_of(self.endpoint)))
        selected = selected_by(self.context, self.endpoint, name.removeprefix(WHERE), self._keys)
        return {key: key in selected for key in self._keys}

    def _of_member(self, member: Member) -> Loaded:
        """Returns the values of a member that a package adds."""
        if member.of_row is not None:
            values = {key: member.of_row(row) for key, row in self._rows.items()}
        else:
            assert member.load is not None
            values = dict(member.load(self.context, self._keys)) if self._keys else {}
        loaded, target = Loaded(values, member.null), self.context.registry.get(member.target)
        if target is not None:
            loaded = self._load_objects(target, {key: values.get(key, ()) for key in self._keys}, checked=True)
        return _methods({key: loaded.values.get(key) for key in self._keys}) if member.method else loaded

    def _method(self, name: str) -> Loaded | None:
        """Returns the functions of a method that objects of any model may have; ``None`` for another name."""
        fields_here = self.endpoint.fields
        if name == "get_absolute_url":
            base = self.endpoint.canonical_path.removeprefix("/api")
            return _methods({key: f"{base}{key}/" for key in self._keys})
        if (attribute := _METHODS.get(name)) in fields_here:
            column = self._load(str(attribute))
            return _methods(column.values)
        if name.startswith(_DISPLAY[0]) and name.endswith(_DISPLAY[1]):
            choice = fields_here.get(name.removeprefix(_DISPLAY[0]).removesuffix(_DISPLAY[1]))
            return None if choice is None else _methods(self._labels(choice))
        share, field = _UTILIZATION.fullmatch(name), fields_here.get("utilization")
        if share is None or not isinstance(field, fields.Utilization):
            return None
        shares = dict(field.load(self.context, self._keys)) if self._keys else {}
        return _methods({key: _share(shares.get(key), share[1]) for key in self._keys})

    def _load_referred(self, target: Endpoint | None, attributes: Sequence[str], *, open: bool = False) -> Loaded:
        """Returns the object that the first foreign key that is set refers to, by id."""
        if target is None:
            return Loaded(dict.fromkeys(self._keys), HIDDEN)
        keys = {
            key: next((other for name in attributes if (other := getattr(row, name)) is not None), None)
            for key, row in self._rows.items()
        }
        batch = self._add_batch(target, (key for key in keys.values() if key is not None), open=open)
        return Loaded({key: batch.object(other) for key, other in keys.items()}, NullObject(batch._number))

    def _add_batch(self, target: Endpoint, keys: Iterable[Any], *, open: bool) -> ObjectBatch:
        return self._loader.add(target, keys, open=open, depth=self._depth + 1)

    def _load_objects(self, target: Endpoint, keys: Mapping[Any, Any], *, checked: bool = False) -> Loaded:
        """Returns objects, or lists of objects, by id; ``checked`` are those that the user may view."""
        single = any(not isinstance(value, list | tuple) for value in keys.values() if value is not None)
        if single:
            batch = self._add_batch(target, (key for key in keys.values() if key), open=checked)
            return Loaded({key: batch.object(other) for key, other in keys.items()}, NullObject(batch._number))
        batch = self._add_batch(target, (other for listed in keys.values() for other in listed or ()), open=checked)
        return Loaded({key: batch.objects(keys.get(key) or ()) for key in self._keys})

    def _wrap_nested(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        """Returns members of representations; nested objects and lists of them become objects of one batch a model."""
        found = {key: nested_objects(self.context.registry, value) for key, value in values.items()}
        keys: dict[Endpoint, list[Any]] = {}
        for target, key in (pair for pairs in found.values() for pair in pairs or ()):
            keys.setdefault(target, []).append(key)
        batches = {target: self._add_batch(target, listed, open=False) for target, listed in keys.items()}
        shown: dict[Any, Any] = {}
        for key, value in values.items():
            pairs = found[key]
            if pairs is None:
                shown[key] = None if value is None else ShownMember(value)
            else:
                references = [batches[target].object(other) for target, other in pairs]
                shown[key] = ListedValues(references) if isinstance(value, list) else references[0]
        return shown

    def _labels(self, field: Field) -> dict[Any, str]:
        """Returns the values of ``get_<choice>_display()``: the label of a choice or the name of a status."""
        if not isinstance(field, fields.Choice | fields.Status):
            raise AttributeError(field.name)
        values = self._load_member(field.name)
        labels = field.choices.labels if isinstance(field, fields.Choice) else {}
        return {
            key: str(value["label"] if isinstance(value, dict) else labels.get(value, value or ""))
            for key, value in values.items()
        }

    def _load_related(self, name: str) -> Loaded:
        """Returns the objects of a to-many relation that the user may view, in the order of their list.

        :raises AttributeError: for an unknown relation
        """
        step = self.endpoint.relations.get(name)
        target = step.target() if step is not None and (step.target_key or step.pairs) else None
        if step is None or target is None:
            raise AttributeError(name)
        table, (source, order, *_) = target.table, target.ordering
        keys: dict[Any, Any] = {}
        try:
            limits = permissions.limits(self.context, target, "view", table)
        except Denied:
            return self._load_objects(target, keys)
        if step.target_key is not None:
            owner = table.c[step.target_key]
        else:
            assert step.pairs is not None
            pairs = step.pairs()
            owner, source = pairs.c.owner_id, pairs.join(source, pairs.c.target_id == table.c.id)
        of_batch = in_parameter(owner)
        statement = sa.select(owner, table.c.id).select_from(source).where(of_batch, *limits).order_by(*order)
        for key, other in self.context.execute(statement, {"keys": self._keys}) if self._keys else ():
            keys.setdefault(key, []).append(other)
        if step.single:
            batch = self._add_batch(target, (listed[0] for listed in keys.values()), open=True)
            return Loaded({key: batch.object(listed[0]) for key, listed in keys.items()}, NullObject(batch._number))
        return self._load_objects(target, keys, checked=True)


def _methods(values: Mapping[Any, Any]) -> Loaded:
    """Returns functions that return these values. That of a null returns nothing."""
    return Loaded({key: FunctionResult(value) for key, value in values.items()}, HIDDEN)


def _share(shares: Any, name: str | None) -> ShareValue | None:
    """Returns a utilization, the named or the first one of several."""
    if isinstance(shares, Mapping):
        shares = shares.get(name) if name else next(iter(shares.values()), None)
    return None if shares is None else ShareValue(shares.part, shares.whole)
