"""Forms: the controls of a resource, filled from a representation, and the changes that a posted form makes.

A form sends every control. Only those that differ from what the form showed are part of the body, so a form that is
posted back unchanged changes nothing, and does not undo what others changed meanwhile.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
from pyramid.request import Request

from netinv_core.errors import NON_FIELD, Invalid, explain
from netinv_core.fields import GenericForeignKey, Status, errors_of
from netinv_core.labels import label_of_name
from netinv_core.models.columns import column_info
from netinv_core.read.listing import detail
from netinv_core.read.names import names_in_context
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write import references
from netinv_web.forms import pickers
from netinv_web.forms.control_values import ABSENT, fill, is_upload, member, put, texts_of, value_of
from netinv_web.forms.controls import Control, Members, controls_of
from netinv_web.lists.columns import presentation_of
from netinv_web.objects.details import fieldsets_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork

CONTROLS, VERSION, REMOVE, RESOLVE = "_controls", "_version", "_remove_", "_resolve_"
SHOW_AGAIN = "_show_again"  # name of buttons that ask for the form with what was entered
THEIRS = "theirs"
MAX_INDEX_DIGITS = 9  # Python refuses to convert texts of thousands of digits
GENERAL = ("__all__", NON_FIELD, "detail")
FIELD_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
NEEDED = frozenset({"id", "display", "url", "last_updated"})


@dataclasses.dataclass
class Form:
    """A form: groups of controls, and errors that belong to no control.

    ``version`` is the time of the last change of the object that it shows, ``lost_files`` the labels of the files that
    have to be chosen again, ``key`` the id of the object, blank for a new one.
    """

    groups: list[tuple[str, list[Control]]]
    errors: list[str] = dataclasses.field(default_factory=list)
    version: str = ""
    lost_files: list[str] = dataclasses.field(default_factory=list)
    key: str = ""

    @property
    def controls(self) -> list[Control]:
        """All controls."""
        return [control for _, controls in self.groups for control in controls]

    @property
    def types(self) -> dict[str, Control]:
        """The controls with the types of objects, by the names of those of the objects that they are shown with."""
        by_name = {control.name: control for control in self.controls}
        return {
            control.name: by_name[control.type_control]
            for control in self.controls
            if control.kind == "object" and control.type_control in by_name
        }


def writable_fields(endpoint: Endpoint) -> dict[str, Field]:
    """The fields that forms have."""
    hidden = presentation_of(endpoint).hidden
    return {name: field for name, field in endpoint.writable.items() if name not in hidden}


def empty(uow: UnitOfWork, endpoint: Endpoint, names: Sequence[str] | None = None) -> Form:
    """The form of a resource, without values; ``names`` limits it to some fields, or members of fields:
    ``custom_fields.role``.
    """
    by_field: dict[str, list[Control]] = {}
    own_groups: dict[str, list[Control]] = {}
    for name, field in writable_fields(endpoint).items():
        if names is not None and not any(chosen.partition(".")[0] == name for chosen in names):
            continue
        for control in controls_of(uow, endpoint, field):
            if names is not None and name not in names and control.name not in names:
                continue
            group = own_groups if control.group else by_field
            group.setdefault(control.group or name, []).append(control)
    sets = fieldsets_of(endpoint, list(by_field))
    groups = [(title, [control for name in members for control in by_field[name]]) for title, members in sets]
    return Form([(title, controls) for title, controls in [*groups, *own_groups.items()] if controls])


def build(request: Request, endpoint: Endpoint, values: Mapping[str, Any], names: Sequence[str] | None = None) -> Form:
    """The form of a resource that holds the values of a representation."""
    form = empty(request.uow, endpoint, names)
    for control in form.controls:
        control.required &= not ("id" in values and control.kind in ("password", "file"))
        value = member(values, control.path)
        if value is not ABSENT:
            fill(control, value)
    form.version, form.key = version_of(values), str(values.get("id", ""))
    complete(request.uow, form)
    return form


def version_of(values: Mapping[str, Any]) -> str:
    """The time of the last change of an object, as forms carry it; empty without one."""
    stamp = values.get("last_updated")
    return stamp if isinstance(stamp, str) else stamp.isoformat() if stamp is not None else ""


def complete(uow: UnitOfWork, form: Form, *, offered: bool = True) -> None:
    """Adds what the values of controls need to be shown: names of objects, and values that are no longer offered.

    Unless ``offered``, pickers have no choices but what they hold.
    """
    pickers.complete(uow, form.controls, offered=offered, key=form.key)
    by_name = {control.name: control for control in form.controls}
    objects = [control for control in form.controls if control.kind == "object" and control.value]
    pairs = {control.name: (by_name[control.type_control].value, control.value) for control in objects}
    keys = {
        name: (label, endpoint.parse_key(key))
        for name, (label, key) in pairs.items()
        if (endpoint := uow.registry.get(label)) is not None
    }
    names = names_in_context(uow, keys.values()) if keys else {}
    for control in objects:
        control.choices = [(control.value, names.get(keys.get(control.name, ("", None)), control.value))]
    for control in form.controls:
        if control.kind in ("select", "checkboxes") and not control.text_label:
            groups = control.choice_groups
            known = {value for value, _ in control.choices} | {value for _, group in groups for value, _ in group}
            control.choices = [*control.choices, *((value, value) for value in control.values if value not in known)]


def offer_choices(uow: UnitOfWork, form: Form, key: Any) -> None:
    """Turns controls whose choices depend on others into selects with what these hold; ``key`` is the object's id."""
    values = {control.name: control.value for control in form.controls}
    for control in form.controls:
        if control.offer is None or not any(name in values for name in control.offer.of):
            continue
        control.offered = True
        offer = control.offer.choices(uow, values, key)
        control.help = offer.note or control.help
        if offer.choices is not None:
            known = {value for value, _ in offer.choices}
            lost = [(value, f"{value}, not free") for value in control.values if value not in known]
            control.kind, control.choices = "select", [*lost, *offer.choices]
            control.taken = set(offer.taken) - set(control.values)  # what was entered is sent again


def read_object(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> dict[str, Any]:
    """The representation of an object with the members that its form shows.

    :raises NotFound: when there is no such object, or the user may not view it
    """
    return detail(uow, endpoint, key, without=_not_needed(endpoint))


@cached_in_registry
def _not_needed(endpoint: Endpoint) -> frozenset[str]:
    return frozenset(
        name
        for name, field in endpoint.fields.items()
        if name not in NEEDED and name not in endpoint.writable and not isinstance(field, GenericForeignKey)
    )


def defaults(endpoint: Endpoint) -> dict[str, Any]:
    """The values of fields that a new object has without being told."""
    constants = {name: value for name, function, value in endpoint.defaults if function is None and value is not None}
    return {name: constants[name] for name in endpoint.writable if constants.get(name) not in (None, "", [], {})}


def first_statuses(uow: UnitOfWork, endpoint: Endpoint) -> dict[str, Any]:
    """The statuses that a form for a new object begins with: the first of those that the model declares as initial.

    A field has none when users took this status from the model, or gave it another slug.
    """
    chosen = {}
    for name, field in writable_fields(endpoint).items():
        if isinstance(field, Status):
            initial = column_info(endpoint.table.c[field.attribute]).initial
            offered = {label: value for value, label in references.statuses_for(uow, field, endpoint)}
            if initial and initial[0] in offered:
                chosen[name] = offered[initial[0]]
    return chosen


# -- what a form posts


def last_text(members: Members, name: str) -> str:
    """The last text of a member of a form; empty without one."""
    values = members.get(name, ())
    return values[-1] if values and isinstance(values[-1], str) else ""


class Submission:
    """A posted form: its texts in controls, and the body of the write that it asks for.

    ``original`` is the representation that the form showed before the user changed it; ``form`` has the controls, in
    place of those of the pages.
    """

    def __init__(
        self,
        request: Request,
        endpoint: Endpoint,
        original: Mapping[str, Any],
        members: Members,
        names: Sequence[str] | None = None,
        form: Form | None = None,
    ) -> None:
        self.endpoint, self.original, self.members = endpoint, original, members
        self.form = empty(request.uow, endpoint, names) if form is None else form
        self.form.key = str(original.get("id", ""))
        self.errors: dict[str, Any] = {}
        self.changed: dict[str, Control] = {}
        self._typed: dict[str, list[Any]] = {}
        sent = set(self.text(CONTROLS).split(",")) | self.members.keys()
        for control in self.form.controls:
            original_value = member(original, control.path)
            former = texts_of(control, original_value) if original_value is not ABSENT else list(control.values)
            if control.name in sent and self.text(f"{RESOLVE}{control.name}") != THEIRS:
                self._enter(control, former)
            elif original_value is not ABSENT:
                fill(control, original_value)
        self.form.version = self.text(VERSION)

    def text(self, name: str) -> str:
        """The last text of a member; empty without one."""
        return last_text(self.members, name)

    def _enter(self, control: Control, former: Sequence[str]) -> None:
        """Puts the texts of a control into it, and notes whether they differ from those that it had."""
        if control.kind == "file":
            uploads = [value for value in self.members.get(control.name, ()) if is_upload(value)]
            control.values = former
            if uploads or self.text(f"{REMOVE}{control.name}"):
                self.changed[control.name] = control
            if uploads:
                self.form.lost_files.append(control.label)
            return
        control.values = control.texts_in(self.members)
        typed = self.text(f"{pickers.TEXT_PREFIX}{control.name}")
        if control.kind == "picker" and typed.strip():
            control.typed = typed
            try:
                self._typed[control.name] = pickers.typed_references(control, typed)
            except colander.Invalid as error:
                self.errors[control.name] = errors_of(error)
        if control.name in self._typed or _differ(control, former):
            self.changed[control.name] = control

    def forget_secrets(self) -> None:
        """Removes passwords from the controls, so that the answer does not contain them."""
        for control in self.form.controls:
            if control.kind == "password" and control.name in self.changed:
                control.values, control.errors = (), ["Enter it again."]

    def body(self, *, new: bool, whole: bool = False) -> dict[str, Any]:
        """The members to write: those that the user changed, or with ``whole`` all but passwords that were not entered.
        A new object also has those that it must have, and whose blank text is a value.

        :raises Invalid: with the errors of texts that cannot be converted
        """
        body: dict[str, Any] = {}
        others = {
            control.name: control
            for control in self.form.controls
            if (whole and control.kind != "password") or (new and _has_blank_value(control))
        }
        for name, control in (others | self.changed).items():
            try:
                value = self._value(control)
            except colander.Invalid as error:
                self.errors[name] = errors_of(error)
                continue
            if value is not ABSENT:
                put(body, control.path, value)
            elif not new:
                put(body, control.path, None)
        if self.errors:
            raise Invalid(self.errors)
        return body

    def _value(self, control: Control) -> Any:
        if control.kind == "file":
            uploads = [value for value in self.members.get(control.name, ()) if is_upload(value)]
            return uploads[-1] if uploads else None
        typed = self._typed.get(control.name)
        if typed is not None and control.multiple:
            return [*control.values, *typed]
        if typed is not None:
            return typed if control.read is not None else typed[0]
        return value_of(control, control.values)


def _differ(control: Control, former: Sequence[str]) -> bool:
    """True when the texts of a control are not the former ones. Lists are compared without their order."""
    if control.kind == "checkbox":
        return (control.value == "true") is not (list(former)[-1:] == ["true"])
    texts, others = ([text.strip() for text in items if text.strip()] for items in (control.values, former))
    return sorted(texts) != sorted(others) if control.multiple else texts != others


def _has_blank_value(control: Control) -> bool:
    """True for the control of a required field that may be left blank, because it reads a value from no text."""
    return control.field is not None and control.field.required and not control.required and control.read is not None


# -- errors


def add_errors(form: Form, body: Any) -> None:
    """Puts the messages of an error's body to their controls; others are errors of the form."""
    if not isinstance(body, Mapping):
        form.errors.append(readable(body))
        return
    controls = {control.name: control for control in form.controls}
    for name, messages in body.items():
        if name in controls:
            controls[name].errors = [readable(messages, label=str)]  # names within its value are as they were typed
        elif name in GENERAL:
            _add_general(form, messages)
        else:
            _add_of_members(form, controls, name, messages)


def _add_general(form: Form, messages: Any) -> None:
    """Adds messages about the whole object; one that names a custom field goes to its control."""
    for message in messages if isinstance(messages, list) else [messages]:
        text = readable(message)
        about = next(
            (control for control in form.controls if control.mentioned_as and control.mentioned_as in text), None
        )
        if about is None:
            form.errors.append(text)
        else:
            about.errors = [*about.errors, text.partition(f"{about.mentioned_as}: ")[2] or text]


def _add_of_members(form: Form, controls: Mapping[str, Control], name: str, messages: Any) -> None:
    """Adds the messages of a field with members of its own to the controls of these members."""
    if not isinstance(messages, Mapping):
        owner = next(filter(_owns_errors, form.controls), None)
        if owner is None:
            form.errors.append(f"{_label(name)}: {readable(messages)}")
        else:
            owner.errors = [*owner.errors, f"{name}: {readable(messages, label=str)}"]
        return
    for key, text in messages.items():
        start = f"{name}.{key}"
        about = next((item for known, item in controls.items() if f"{known}.".startswith(f"{start}.")), None)
        if about is None:
            form.errors.append(f"{_label(name)}, {key}: {readable(text)}")
        else:
            about.errors = [*about.errors, readable(text)]


def _owns_errors(control: Control) -> bool:
    return control.owns_errors


def _label(name: str) -> str:
    """The label of a name that is written as those of fields; other texts, such as filters, stay as they are."""
    return label_of_name(name) if FIELD_NAME.fullmatch(name) else name


def readable(messages: Any, label: Callable[[str], str] = _label) -> str:
    """Messages of any nesting as sentences, explained where they can be; the items of a list are counted from one.

    :param label: returns what is shown for a name
    """
    if isinstance(messages, Mapping):
        named = ((_position(str(name), label), readable(value, label)) for name, value in messages.items())
        return " ".join(f"{name}: {text}" if name else text for name, text in named if text)
    if isinstance(messages, Iterable) and not isinstance(messages, str):
        return " ".join(filter(None, (readable(message, label) for message in messages)))
    return explain(messages)


def _position(name: str, label: Callable[[str], str]) -> str:
    if name in GENERAL:
        return ""
    is_index = name.isascii() and name.isdecimal() and len(name) <= MAX_INDEX_DIGITS
    return f"Item {int(name) + 1}" if is_index else label(name)
