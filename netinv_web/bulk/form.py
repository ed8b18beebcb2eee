"""Form of a bulk edit: for each field that several objects can share, what to do with it, and a value."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core.errors import NON_FIELD, Invalid
from netinv_core.fields import Image, errors_of
from netinv_core.fields.list_differences import ADD, REMOVE
from netinv_core.sql.plans import plan_of
from netinv_web.bulk.selection import Members
from netinv_web.forms import form as forms
from netinv_web.forms import pickers
from netinv_web.forms.cloning import fields_left_empty
from netinv_web.forms.control_values import ABSENT, put, value_of
from netinv_web.forms.controls import Control

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

MODE = "_mode_"  # prefix of the members that say what to do with a control
KEEP, SET, CLEAR, REPLACE = "", "set", "clear", "replace"
LABELS = {KEEP: "Keep", SET: "Set", CLEAR: "Clear", ADD: "Add", REMOVE: "Remove", REPLACE: "Replace"}
BOOLEAN_CHOICES = [("true", "Yes"), ("false", "No")]


@dataclasses.dataclass
class BulkControl:
    """A control, with what is to be done with its field. A value without a mode sets it, or adds to a list."""

    control: Control
    modes: Sequence[tuple[str, str]]
    is_list: bool
    mode: str = KEEP

    @property
    def is_used(self) -> bool:
        """True when the field is to be changed."""
        return self.mode != KEEP


def settable_fields(endpoint: Endpoint) -> list[str]:
    """The fields that several objects can have the same value of: not those that identify one object."""
    identifying_fields = fields_left_empty(endpoint)
    return [
        name
        for name, field in forms.writable_fields(endpoint).items()
        if name not in identifying_fields and _is_shareable(field)
    ]


def _is_shareable(field: Field) -> bool:
    return not (field.write_only or field.confidential or isinstance(field, Image))


class BulkForm:
    """The form of a bulk edit, with what was posted. ``errors`` concern no single control."""

    def __init__(self, uow: UnitOfWork, endpoint: Endpoint, members: Members, names: Sequence[str] = ()) -> None:
        self.endpoint = endpoint
        offered = [name for name in settable_fields(endpoint) if not names or name in names]
        self.form = forms.empty(uow, endpoint, offered)
        self.errors = self.form.errors
        self.groups = [
            (title, [_bulk_control(control, members) for control in controls if control.kind != "file"])
            for title, controls in self.form.groups
        ]
        if len(names) == 1:
            self._preselect(members)

    def _preselect(self, members: Members) -> None:
        """Selects adding in the short form of one list, such as the tags."""
        for item in self.used_or_all(used=False):
            if item.is_list and f"{MODE}{item.control.name}" not in members:
                item.mode = ADD

    def used_or_all(self, *, used: bool) -> list[BulkControl]:
        """All controls, or those whose field is to be changed."""
        return [item for _, items in self.groups for item in items if item.is_used or not used]

    def complete(self, uow: UnitOfWork) -> None:
        """Adds what is needed to show the form."""
        forms.complete(uow, self.form)

    @property
    def unrecorded(self) -> list[Control]:
        """The controls to change whose fields the change log does not record with the object, such as relationships."""
        used = self.used_or_all(used=True)
        return [item.control for item in used if self.endpoint.fields[item.control.path[0]].opt_in]

    def bodies(self, keys: Sequence[Any]) -> dict[Any, dict[str, Any]]:
        """The changes of each object, by id.

        :raises Invalid: with the errors of texts that cannot be converted, also shown at the controls
        """
        common: dict[str, Any] = {}
        for item in self.used_or_all(used=True):
            try:
                value = _value(item)
            except colander.Invalid as error:
                item.control.errors = [forms.readable(errors_of(error))]
                continue
            put(common, item.control.path, {item.mode: value} if item.mode in (ADD, REMOVE) else value)
        self._check()
        return {key: copy.deepcopy(common) for key in keys}

    def _check(self) -> None:
        faulty = {item.control.name: item.control.errors for item in self.used_or_all(used=True) if item.control.errors}
        if not self.used_or_all(used=True):
            self.errors.append("Nothing is to be changed: choose a field and a value.")
        if faulty or self.errors:
            raise Invalid(faulty or {NON_FIELD: list(self.errors)})


def fields_of(
    uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any], names: Collection[str]
) -> dict[Any, dict[str, Any]]:
    """Some fields of objects, by id."""
    if not names:
        return {}
    without = frozenset(endpoint.fields.keys() - set(names) - {"id"})
    return dict(plan_of(endpoint, "full", without).fetch(uow, keys, bounded=True))


def _bulk_control(control: Control, members: Members) -> BulkControl:
    """A control with what was posted for it."""
    is_list = control.multiple or control.kind == "list"
    modes = [ADD, REMOVE, REPLACE] if is_list else [SET]
    if not control.required and control.kind != "checkbox":
        modes.append(CLEAR)
    if control.kind == "checkbox":
        control.kind, control.choices = "select", BOOLEAN_CHOICES
    control.required = False
    control.values = control.texts_in(members)
    control.typed = forms.last_text(members, f"{pickers.TEXT_PREFIX}{control.name}")
    mode = forms.last_text(members, f"{MODE}{control.name}")
    has_value = bool(control.values or control.typed.strip())
    if mode not in modes:
        mode = modes[0] if has_value else KEEP
    return BulkControl(control, [(name, LABELS[name]) for name in (KEEP, *modes)], is_list, mode)


def _value(item: BulkControl) -> Any:
    """The value of a control as a body has it.

    :raises colander.Invalid: for texts that cannot be converted, and a list without items to add or remove
    """
    control = item.control
    if item.mode == CLEAR:
        value = value_of(control, [])
        return None if value is ABSENT else value
    typed = pickers.typed_references(control, control.typed) if control.typed.strip() else []
    if item.is_list:
        value = [*(value_of(control, control.values) if control.values or not typed else []), *typed]
        if not value and item.mode in (ADD, REMOVE):
            raise colander.Invalid(None, "Choose what is to be added or removed.")
        return value
    if typed:
        return typed if control.read is not None else typed[0]
    value = value_of(control, control.values)
    return None if value is ABSENT else value
