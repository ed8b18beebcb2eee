"""Choices of pickers: the objects that a control offers or holds, limited to those that the user may view.

Without scripts a picker is a select of all objects, or, if there are more than :data:`MAX_CHOICES`, of those that it
holds beside a text box that takes a name, a slug or an id. Scripts search by :mod:`netinv_web.forms.choices`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Denied, Invalid
from netinv_core.fields import cell_items
from netinv_core.read import listing
from netinv_core.sql import lookups
from netinv_core.sql.plan import fetch_together
from netinv_core.write.slugs import natural_key
from netinv_web.forms.choices import plan_for
from netinv_web.forms.control_values import reference_of
from netinv_web.forms.controls import Control
from netinv_web.menu import may

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_CHOICES = 100  # objects that a select offers
TEXT_PREFIX = "_text_"  # of the name of the text box beside a select
Objects = Mapping[Any, Mapping[str, Any]]
List = tuple[Endpoint, tuple[tuple[str, str], ...]]  # a model, and query parameters of its list
Named = tuple[Endpoint, str]  # a model, and the column with the values of choices


def complete(uow: UnitOfWork, controls: Sequence[Control], *, offered: bool = True, key: str = "") -> None:
    """Adds the choices of pickers, unless none are ``offered``, and the names of what they hold. Both are narrowed by
    what the other controls hold; ``key`` is the id of the object of the form, blank for a new one.

    Two statements for all pickers, and one more for each model whose ids are integers.
    """
    pickers = [control for control in controls if control.kind == "picker" and control.target is not None]
    by_name = {control.name: control for control in controls}
    lists = {id(control): _list_of(control, by_name, key) for control in pickers}
    first = _first_keys(uow, list(dict.fromkeys(lists.values()))) if offered else {}
    named: dict[Named, set[Any]] = {}
    for control in pickers:
        assert control.target is not None
        keys = first.get(lists[id(control)], ())
        held = map(control.target.parse_key, control.values) if control.key == "id" else ()
        shown = [*(keys if len(keys) <= MAX_CHOICES else ()), *(item for item in held if item is not None)]
        named.setdefault((control.target, control.key), set()).update(shown)
    objects = _read_choices(uow, named)
    for control in pickers:
        assert control.target is not None
        of_list = lists[id(control)]
        _complete(control, objects.get((control.target, control.key), {}), first.get(of_list, ()))
        control.more |= not offered or bool(of_list[1])  # another choice above asks for others
        writes = control.target.resource.writes
        control.may_add = "add" in writes and may(uow, control.target, "add")


def fill(control: Control, given: Callable[[str], Any]) -> None:
    """Sets the value of a picker of one object that a form sends: what is chosen, else what is in its text box."""
    texts = [given(control.name), given(f"{TEXT_PREFIX}{control.name}")]
    control.values = [text.strip() for text in texts if isinstance(text, str) and text.strip()][:1]


def chosen_id(uow: UnitOfWork, control: Control, name: str) -> Any:
    """The id of the object that a picker holds, by id or by the column ``name``, if that is one of texts.

    :raises Invalid: when there is none, or several, that the user may view
    """
    target = control.target
    assert target is not None
    if not control.value:
        raise Invalid({control.name: ["This field is required."]})
    table, key = target.table, target.parse_key(control.value)
    named = table.c.get(name)
    is_text = named is not None and lookups.python_type(named) is str and "\x00" not in control.value
    condition = table.c.id == key if key is not None else named == control.value if is_text else sa.false()
    limits = permissions.visible(uow, target, table)
    keys = uow.execute(sa.select(table.c.id).where(condition, *limits).limit(2)).scalars().all()
    if len(keys) != 1:
        problem = "There are several with this name: choose one of the list." if keys else "There is no such object."
        raise Invalid({control.name: [problem]})
    return keys[0]


def _list_of(control: Control, by_name: Mapping[str, Control], key: str) -> List:
    """The list that a picker offers: its model, and the query parameters that narrow it."""
    assert control.target is not None
    control.parameters = limits = control.parameters_of(key)
    others = [(parameter, by_name[name].value) for name, parameter in control.depends_on.items() if name in by_name]
    narrowed = [(name, value) for name, value in (*limits.items(), *others) if value]
    return control.target, tuple(narrowed)


def _complete(control: Control, objects: Objects, first: Sequence[Any]) -> None:
    """Sets the choices of a picker: what it holds, in the order of its values, and the others by their names."""
    control.more = len(first) > MAX_CHOICES
    labels = {item["value"]: item["name"] for item in objects.values()}
    colors = {item["value"]: item["color"] for item in objects.values() if item.get("color")}
    control.colors = dict(control.colors) | colors
    labels = {**dict(control.choices), **labels}
    values = {value: labels.get(value, value) for value in control.values}
    offered = [objects[key]["value"] for key in first if key in objects] if not control.more else []
    others = sorted((natural_key(labels[value]), value) for value in offered if value not in values)
    control.choices = [*values.items(), *((value, labels[value]) for _, value in others)]


def _first_keys(uow: UnitOfWork, lists: Sequence[List]) -> dict[List, list[Any]]:
    """The ids of each list's objects, one more than are offered at most; in no order.

    One UNION ALL of the models with UUIDs.
    """
    keys: dict[List, list[Any]] = {}
    selects: list[Any] = []
    numbered: list[List] = []
    for item in lists:
        target, parameters = item
        limited = sa.select(target.table.c.id).where(*_conditions(uow, target, parameters)).limit(MAX_CHOICES + 1)
        if target.key_type is not uuid.UUID:
            keys[item] = list(uow.execute(limited).scalars())
            continue
        part = limited.subquery()
        number: Any = sa.literal_column(str(len(numbered)))
        selects.append(sa.select(number, part.c.id))
        numbered.append(item)
        keys[item] = []
    for number, key in uow.execute(sa.union_all(*selects)).tuples() if selects else ():
        keys[numbered[number]].append(key)
    return keys


def _conditions(uow: UnitOfWork, target: Endpoint, parameters: Sequence[tuple[str, str]]) -> Sequence[Any]:
    """The conditions of a list on the model's table; those of its permissions alone for values that no object can have,
    such as one that was mistyped.
    """
    named = [(name, [value]) for name, value in parameters]
    try:
        return listing.conditions_of(uow, target, target.table, named, "view")
    except (Invalid, Denied):
        return permissions.visible(uow, target, target.table)


def _read_choices(uow: UnitOfWork, keys: Mapping[Named, Iterable[Any]]) -> dict[Named, Objects]:
    """The choices by id that the user may view, with their names in context: one statement."""
    wanted = {item: list(ids) for item, ids in keys.items() if ids}
    together = [item for item in wanted if item[0].key_type is uuid.UUID]
    requests = [(plan_for(*item), wanted[item]) for item in together]
    results = fetch_together(uow, requests, permissions.visible_for(uow)) if requests else []
    objects: dict[Named, Objects] = {item: dict(result) for item, result in zip(together, results, strict=True)}
    for item, ids in wanted.items():
        if item not in objects:
            objects[item] = dict(plan_for(*item).fetch(uow, ids, permissions.visible(uow, item[0], item[0].table)))
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
