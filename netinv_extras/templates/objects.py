"""Objects of templates on the service's side: loads the attributes that a template uses, for a batch at once.

The renderer's side is :mod:`netinv_extras.templates.renderer.objects`.

The number of statements depends on the attributes that a template mentions, not on the number of objects.
Permissions are those of the user of the request: of other objects the nested representation is visible, and more
only with permission.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import fields
from netinv_core.auth import permissions
from netinv_core.db.engine import in_parameter
from netinv_core.errors import Denied
from netinv_core.read import listing
from netinv_core.read.plans import plan_of
from netinv_core.types import Endpoint, Field, UnitOfWork
from netinv_extras.templates.renderer.values import HIDDEN, Label, ObjectRef, ObjectRefs, Shown, encode
from netinv_extras.templates.sandbox import RenderError

ALIASES = {"pk": "id", "cf": "custom_fields", "custom_field_data": "custom_fields", "absolute_url": "url"}
DEEPEST = 20  # relations that a template may follow one after another
_DISPLAY = ("get_", "_display")


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

    def column(self, batch: int, name: str) -> list[Any] | None:
        """Returns an attribute of each object of a batch, encoded; ``None`` for an unknown attribute.

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
        self._columns: dict[str, list[Any] | None] = {}

    def object(self, key: Any) -> ObjectRef | None:
        """Returns an object as a variable of a template; ``None`` without a key."""
        return None if key is None else ObjectRef(self._number, self._places[key])

    def objects(self, keys: Iterable[Any] | None = None) -> ObjectRefs:
        """Returns the objects with these keys, or all, in order, as a variable of a template."""
        return ObjectRefs(self._number, [self._places[key] for key in (self._keys if keys is None else keys)])

    def column(self, name: str) -> list[Any] | None:
        """Returns an attribute of each object, encoded; hidden without permission. ``None`` for an unknown one."""
        name = ALIASES.get(name, name)
        if name not in self._columns:
            try:
                self._columns[name] = self._visible_column(name)
            except AttributeError:
                self._columns[name] = None
        return self._columns[name]

    def _visible_column(self, name: str) -> list[Any]:
        if name in self._loader.without or name.startswith("_"):
            raise AttributeError(name)
        visible = None if self._open or name in self._brief_names else self._visible
        if visible is not None and not visible:
            return [encode(HIDDEN)] * len(self._keys)
        values = self._load(name)
        return [encode(values.get(key) if visible is None or key in visible else HIDDEN) for key in self._keys]

    @functools.cached_property
    def _brief_names(self) -> frozenset[str]:
        """Names of the nested representation, which is visible without permission."""
        return frozenset(field.name for field in self.endpoint.brief)

    @functools.cached_property
    def _visible(self) -> set[Any] | None:
        """Ids of the objects that the user may view; ``None`` for all."""
        table = self.endpoint.table
        try:
            scope = permissions.scope(self.context, self.endpoint, "view", table)
        except Denied:
            return set()
        if scope is None:
            return None
        permitted = sa.select(table.c.id).where(in_parameter(self.context.registry.dialect, table.c.id), scope)
        return set(self.context.execute(permitted, {"keys": self._keys}).scalars())

    def _load(self, name: str) -> Mapping[Any, Any]:
        """Loads an attribute of all objects; returns the values by id.

        :raises AttributeError: for an unknown or confidential attribute
        """
        field = self.endpoint.fields.get(name)
        if field is None:
            choice = None
            if name.startswith(_DISPLAY[0]):
                choice = self.endpoint.fields.get(name.removeprefix(_DISPLAY[0]).removesuffix(_DISPLAY[1]))
            return self._labels(choice) if choice is not None else self._related(name)
        if field.write_only or field.confidential:
            raise AttributeError(name)
        if name == "id":
            return {key: key for key in self._keys}
        if isinstance(field, fields.Reference):
            return self._referred(field)
        if isinstance(field, fields.Value) and not isinstance(field, fields.Image):
            return {key: getattr(row, field.attribute) for key, row in self._rows.items()}
        values = self._represented(name)
        if isinstance(field, fields.ToMany) and field.target is not None and field.by is None:
            return self._listed(field.target, {key: [item["id"] for item in items] for key, items in values.items()})
        return {key: Shown(value) for key, value in values.items()}

    @functools.cached_property
    def _rows(self) -> Mapping[Any, Any]:
        return listing.rows_of(self.context, self.endpoint.model, self._keys)

    def _represented(self, name: str) -> dict[Any, Any]:
        """Returns a member of the objects' representations, by id."""
        plan = plan_of(self.endpoint, "full", frozenset(self.endpoint.fields) - {name})
        return {key: members[name] for key, members in plan.fetch(self.context, self._keys)}

    def _referred(self, field: fields.Reference) -> dict[Any, Any]:
        """Returns the object that a foreign key refers to, by id."""
        targets = {key: getattr(row, field.attribute) for key, row in self._rows.items()}
        if field.target is None:
            return dict.fromkeys(targets)
        keys = (key for key in targets.values() if key is not None)
        batch = self._add_batch(field.target, keys, open=isinstance(field, fields.Status))
        return {key: batch.object(other) for key, other in targets.items()}

    def _add_batch(self, target: Endpoint, keys: Iterable[Any], *, open: bool) -> ObjectBatch:
        return self._loader.add(target, keys, open=open, depth=self._depth + 1)

    def _listed(
        self, target: Endpoint, keys: Mapping[Any, Sequence[Any]], *, open: bool = False
    ) -> dict[Any, ObjectRefs]:
        batch = self._add_batch(target, (other for listed in keys.values() for other in listed), open=open)
        return {key: batch.objects(keys.get(key, ())) for key in self._keys}

    def _labels(self, field: Field) -> dict[Any, Label]:
        """Returns the values of ``get_<choice>_display()``: the label of a choice or the name of a status."""
        if not isinstance(field, fields.Choice | fields.Status):
            raise AttributeError(field.name)
        values = self._represented(field.name)
        labels = field.choices.labels if isinstance(field, fields.Choice) else {}
        texts = {
            key: str(value["label"] if isinstance(value, dict) else labels.get(value, value or ""))
            for key, value in values.items()
        }
        return {key: Label(text) for key, text in texts.items()}

    def _related(self, name: str) -> dict[Any, ObjectRefs]:
        """Returns the objects of a to-many relation that the user may view, in the order of their list.

        :raises AttributeError: for an unknown relation
        """
        step = self.endpoint.relations.get(name)
        target = step.target() if step is not None and (step.target_key or step.pairs) else None
        if step is None or target is None:
            raise AttributeError(name)
        table, (source, order, *_) = target.table, target.ordering
        try:
            scope = permissions.scope(self.context, target, "view", table)
        except Denied:
            return self._listed(target, {})
        if step.target_key is not None:
            owner = table.c[step.target_key]
        else:
            assert step.pairs is not None
            pairs = step.pairs()
            owner, source = pairs.c.owner_id, pairs.join(source, pairs.c.target_id == table.c.id)
        of_batch = in_parameter(self.context.registry.dialect, owner)
        statement = sa.select(owner, table.c.id).select_from(source).where(of_batch)
        statement = (statement if scope is None else statement.where(scope)).order_by(*order)
        keys: dict[Any, list[Any]] = {}
        for key, other in self.context.execute(statement, {"keys": self._keys}):
            keys.setdefault(key, []).append(other)
        return self._listed(target, keys, open=True)
