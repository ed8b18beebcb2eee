"""Choices of pickers: the objects that a control offers or holds, limited to those that the user may view.

Without scripts a picker is a select of all objects, or, if there are more than :data:`MAX_CHOICES`, of those that it
holds beside a text box that takes a name, a slug or an id. Scripts search the list of the API.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import colander
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.fields import cell_items
from netinv_core.read.plan import fetch_together
from netinv_core.read.plans import plan_of
from netinv_core.types import Endpoint, UnitOfWork
from netinv_web.forms.control_values import reference_of
from netinv_web.forms.controls import Control
from netinv_web.menu import may

MAX_CHOICES = 100  # objects that a select offers
TEXT_PREFIX = "_text_"  # of the name of the text box beside a select
Objects = Mapping[Any, Mapping[str, Any]]


def complete(uow: UnitOfWork, controls: Iterable[Control], *, offered: bool = True) -> None:
    """Adds the choices of pickers, unless none are ``offered``, and the names of what they hold.

    Two statements for all pickers, and one more for each model whose ids are integers.
    """
    pickers = [control for control in controls if control.kind == "picker" and control.target is not None]
    targets = {control.target: None for control in pickers if control.target is not None}
    first = _first_keys(uow, list(targets)) if offered else {}
    named: dict[Endpoint, set[Any]] = {target: set(keys) for target, keys in first.items() if len(keys) <= MAX_CHOICES}
    for control in pickers:
        assert control.target is not None
        if control.key == "id":
            keys = (control.target.parse_key(value) for value in control.values)
            named.setdefault(control.target, set()).update(key for key in keys if key is not None)
    objects = _nested(uow, named)
    for control in pickers:
        assert control.target is not None
        _complete(control, objects.get(control.target, {}), first.get(control.target, ()))
        control.more |= not offered
        writes = control.target.resource.writes
        control.may_add = "add" in writes and may(uow, control.target, "add")


def _complete(control: Control, objects: Objects, first: Sequence[Any]) -> None:
    """Sets the choices of a picker: what it holds, in the order of its values, and the others by their names."""
    control.more = len(first) > MAX_CHOICES
    labels = {str(item.get(control.key, key)): str(item.get("display", key)) for key, item in objects.items()}
    control.colors = dict(control.colors) | {
        str(item.get(control.key, key)): str(item["color"]) for key, item in objects.items() if item.get("color")
    }
    labels = {**dict(control.choices), **labels}
    values = {value: labels.get(value, value) for value in control.values}
    offered = [str(objects[key].get(control.key, key)) for key in first if key in objects] if not control.more else []
    others = sorted((labels[value].lower(), value) for value in offered if value not in values)
    control.choices = [*values.items(), *((value, labels[value]) for _, value in others)]


def _first_keys(uow: UnitOfWork, targets: Sequence[Endpoint]) -> dict[Endpoint, list[Any]]:
    """The ids of each model's objects, one more than are offered at most; in no order.

    One UNION ALL of the models with UUIDs.
    """
    keys: dict[Endpoint, list[Any]] = {}
    selects: list[Any] = []
    numbered: list[Endpoint] = []
    for target in targets:
        limits = permissions.visible(uow, target, target.table)
        limited = sa.select(target.table.c.id).where(*limits).limit(MAX_CHOICES + 1)
        if target.key_type is not uuid.UUID:
            keys[target] = list(uow.execute(limited).scalars())
            continue
        part = limited.subquery()
        number: Any = sa.literal_column(str(len(numbered)))
        selects.append(sa.select(number, part.c.id))
        numbered.append(target)
        keys[target] = []
    for number, key in uow.execute(sa.union_all(*selects)).tuples() if selects else ():
        keys[numbered[number]].append(key)
    return keys


def _nested(uow: UnitOfWork, keys: Mapping[Endpoint, Iterable[Any]]) -> dict[Endpoint, Objects]:
    """The nested representations of objects by id that the user may view: one statement."""
    requests = [(plan_of(target, "nested"), list(items)) for target, items in keys.items() if items]
    targets = [target for target, items in keys.items() if items]
    objects: dict[Endpoint, Objects] = {}
    together = [index for index, target in enumerate(targets) if target.key_type is uuid.UUID]
    visible = permissions.visible_for(uow)
    results = fetch_together(uow, [requests[index] for index in together], visible) if together else []
    for index, result in zip(together, results, strict=True):
        objects[targets[index]] = dict(result)
    for target, (plan, items) in zip(targets, requests, strict=True):
        if target not in objects:
            objects[target] = dict(plan.fetch(uow, items, permissions.visible(uow, target, target.table)))
    return objects


def typed_references(control: Control, text: str) -> list[Any]:
    """The references in the text box of a picker; several are separated by commas.

    :raises colander.Invalid: for text that can name no object
    """
    if control.target is None or not text.strip():
        return []
    items = cell_items(text) if control.multiple else [text]
    if not all(isinstance(item, str) for item in items):
        raise colander.Invalid(None, "Write names, slugs or ids, separated by commas.")
    return [reference_of(control.target, item, control.key) for item in items]
