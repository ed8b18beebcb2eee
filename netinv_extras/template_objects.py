"""Objects as templates see them: their attributes lead on to other objects, and are read for all objects of a page at once.

A template is rendered once for each object. What it asks of the first is loaded for all of them: the statements depend on what a template
mentions, not on how many objects there are. Whoever the template is rendered for sees of other objects what the API shows nested, and
more only of those they may view.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from netinv_core import fields as kinds
from netinv_core.auth import permits
from netinv_core.context import Context
from netinv_core.database import among
from netinv_core.errors import Denied
from netinv_core.read import pages
from netinv_core.registry import Endpoint

ALIASES = {"pk": "id", "cf": "custom_fields", "custom_field_data": "custom_fields", "absolute_url": "url"}
_DISPLAY = ("get_", "_display")


class Object:
    """An object in a template: its fields and what refers to it as attributes; as text, what it is called."""

    __slots__ = ("_crowd", "_key")

    def __init__(self, crowd: Crowd, key: Any) -> None:
        self._crowd, self._key = crowd, key

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._crowd.value(self._key, name)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._crowd.value(self._key, str(name))
        except AttributeError:
            raise KeyError(name) from None

    def __str__(self) -> str:
        return str(self._crowd.value(self._key, "display"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Object) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Members(Mapping[str, Any]):
    """An object within a representation: its members as attributes; as text, what it is called."""

    __slots__ = ("_members",)

    def __init__(self, members: Mapping[str, Any]) -> None:
        self._members = members

    def __getitem__(self, name: str) -> Any:
        return _in_template(self._members[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __str__(self) -> str:
        return str(next((self._members[name] for name in ("display", "label") if name in self._members), dict(self._members)))


def _in_template(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_template(item) for item in value]
    return Members(value) if isinstance(value, dict) else value


class Queryset(Sequence[Object]):
    """Several objects, by the names that templates written for other services call its parts by."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._objects = list(objects)

    def __getitem__(self, place: Any) -> Any:
        return self._objects[place]

    def __len__(self) -> int:
        return len(self._objects)

    def __str__(self) -> str:
        return ", ".join(map(str, self._objects))

    def all(self) -> Queryset:
        """Itself."""
        return self

    def exists(self) -> bool:
        """Whether there are any objects."""
        return bool(self._objects)

    def first(self) -> Object | None:
        """The first object, if there is any."""
        return self._objects[0] if self._objects else None

    def count(self, *values: Any) -> int:
        """How many objects there are."""
        return super().count(*values) if values else len(self._objects)


class Crowd:
    """Objects of one endpoint that are read together; ``open`` ones may be seen whole by whoever the template is rendered for.

    What is in ``without`` neither they nor what they lead to have: a template does not ask for what is made by itself.
    """

    def __init__(self, context: Context, endpoint: Endpoint, keys: Iterable[Any], *, open: bool = False, without: Collection[str] = ()) -> None:
        self.context, self.endpoint = context, endpoint
        self._keys = list(dict.fromkeys(keys))
        self._open, self._without = open, without
        self._loaded: dict[str, Mapping[Any, Any]] = {}

    def objects(self) -> Queryset:
        """All of them, in order."""
        return Queryset(Object(self, key) for key in self._keys)

    def value(self, key: Any, name: str) -> Any:
        """An attribute of one of the objects.

        :raises AttributeError: for one that it has not, or that may not be seen
        """
        name = ALIASES.get(name, name)
        if name in self._without:
            raise AttributeError(name)
        if not (self._open or name in self._named or self._visible is None or key in self._visible):
            raise AttributeError(f"{name} of {self.endpoint.title} may not be seen")
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name].get(key)

    @functools.cached_property
    def _named(self) -> frozenset[str]:
        """What everyone sees of an object that another refers to."""
        return frozenset(field.name for field in self.endpoint.brief)

    @functools.cached_property
    def _visible(self) -> set[Any] | None:
        """The objects that may be viewed; ``None`` for all."""
        table = self.endpoint.table
        try:
            scope = permits.scope(self.context, self.endpoint, "view", table)
        except Denied:
            return set()
        if scope is None:
            return None
        found = sa.select(table.c.id).where(among(self.context.registry.dialect, table.c.id), scope)
        return set(self.context.execute(found, {"keys": self._keys}).scalars())

    def _load(self, name: str) -> Mapping[Any, Any]:
        """An attribute of all the objects, by id."""
        field = self.endpoint.fields.get(name)
        if field is None:
            labelled = self.endpoint.fields.get(name.removeprefix(_DISPLAY[0]).removesuffix(_DISPLAY[1])) if name.startswith(_DISPLAY[0]) else None
            return self._labels(labelled) if labelled is not None else self._beside(name)
        if field.write_only or field.confidential:
            raise AttributeError(name)
        if isinstance(field, kinds.Reference):
            return self._referred(field)
        if isinstance(field, kinds.Value) and not isinstance(field, kinds.Image):
            return {key: getattr(row, field.attribute) for key, row in self._rows.items()}
        shown = self._shown(name)
        if isinstance(field, kinds.Many) and field.target is not None and field.by is None:
            return self._listed(field.target, {key: [item["id"] for item in items] for key, items in shown.items()})
        return {key: _in_template(value) for key, value in shown.items()}

    @functools.cached_property
    def _rows(self) -> Mapping[Any, Any]:
        return pages.rows_of(self.context, self.endpoint.model, self._keys)

    def _shown(self, name: str) -> dict[Any, Any]:
        """A member of the representations."""
        plan = self.endpoint.plan("full", frozenset(self.endpoint.fields) - {name})
        return {key: members[name] for key, members in plan.fetch(self.context, self._keys)}

    def _referred(self, field: kinds.Reference) -> dict[Any, Any]:
        """What a foreign key leads to."""
        leads = {key: getattr(row, field.attribute) for key, row in self._rows.items()}
        if field.target is None:
            return dict.fromkeys(leads)
        there = self._beyond(field.target, (key for key in leads.values() if key is not None), open=isinstance(field, kinds.Status))
        return {key: None if other is None else Object(there, other) for key, other in leads.items()}

    def _beyond(self, target: Endpoint, keys: Iterable[Any], *, open: bool) -> Crowd:
        return Crowd(self.context, target, keys, open=open, without=self._without)

    def _listed(self, target: Endpoint, keys: Mapping[Any, Sequence[Any]], *, open: bool = False) -> dict[Any, Queryset]:
        there = self._beyond(target, (other for found in keys.values() for other in found), open=open)
        return {key: Queryset(Object(there, other) for other in keys.get(key, ())) for key in self._keys}

    def _labels(self, field: kinds.Field) -> dict[Any, Callable[[], str]]:
        """``get_<choice>_display()``: the label of a choice, the name of a status."""
        if not isinstance(field, kinds.Choice | kinds.Status):
            raise AttributeError(field.name)
        shown = self._shown(field.name)
        labels = field.choices.labels if isinstance(field, kinds.Choice) else {}
        texts = {key: str(value["label"] if isinstance(value, dict) else labels.get(value, value or "")) for key, value in shown.items()}
        return {key: functools.partial(str, text) for key, text in texts.items()}

    def _beside(self, name: str) -> dict[Any, Queryset]:
        """The objects that a step of this name leads to: those that may be viewed, in the order of their list."""
        step = self.endpoint.relations.get(name)
        target = step.target() if step is not None and (step.far or step.pairs) else None
        if step is None or target is None:
            raise AttributeError(name)
        table, (source, order) = target.table, target.ordering
        try:
            scope = permits.scope(self.context, target, "view", table)
        except Denied:
            return self._listed(target, {})
        if step.far is not None:
            owner = table.c[step.far]
        else:
            assert step.pairs is not None
            pairs = step.pairs()
            owner, source = pairs.c.owner_id, pairs.join(source, pairs.c.target_id == table.c.id)
        found = sa.select(owner, table.c.id).select_from(source).where(among(self.context.registry.dialect, owner))
        found = (found if scope is None else found.where(scope)).order_by(*order)
        keys: dict[Any, list[Any]] = {}
        for key, other in self.context.execute(found, {"keys": self._keys}):
            keys.setdefault(key, []).append(other)
        return self._listed(target, keys, open=True)
