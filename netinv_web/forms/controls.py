"""Controls of forms: for each kind of field the inputs that take its value.

The write path validates. A control only says how a value is entered, which texts show a value of a representation, and
which value the texts of a form stand for (:mod:`netinv_web.forms.control_values`).
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.fields import Field
from netinv_core.labels import label_of, label_of_name, title_of
from netinv_core.models.associations import EVERY_TYPE
from netinv_core.packages import errors_of
from netinv_core.registry_cache import cached_in_registry
from netinv_core.uow import UnitOfWork
from netinv_core.write import references
from netinv_web.lists.columns import presentation_of
from netinv_web.menu import declared_sections
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MARKDOWN_NAMES = frozenset({"comments"})
Choices = Sequence[tuple[str, str]]
Members = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class OfferedChoices:
    """Choices of a :class:`ChoiceOffer`, with a sentence about them, and the values among them that are ``taken`` and
    cannot be chosen. ``None`` in place of choices: the control stays as it is.
    """

    choices: Choices | None
    note: str = ""
    taken: Collection[str] = ()


@dataclasses.dataclass(frozen=True)
class ChoiceOffer:
    """Choices of a control that depend on what other controls of the form hold, such as the free units of a rack.

    ``choices(uow, values, key)`` returns them, from the texts of the controls by name and the id of the object, if it
    exists. ``title`` is the button that asks for them again when one of the controls ``of`` has another value.
    """

    title: str
    of: Sequence[str]
    choices: Callable[[UnitOfWork, Mapping[str, str], Any], OfferedChoices]


@dataclasses.dataclass
class Control:
    """A control of a form.

    * ``name``: name in the form and in its errors; dots divide the members of a field: ``custom_fields.colour``;
    * ``kind``: ``text``, ``number``, ``textarea``, ``checkbox``, ``checkboxes``, ``select``, ``picker``, ``object``,
      ``file``, ``json``, ``color``, ``date``, ``datetime``, ``list``, ``password``, ``conditions``;
    * ``values``: the texts that it holds; several for a list;
    * ``choices``: pairs of value and label, for ``select`` and for what a ``picker`` offers or holds already;
    * ``choice_groups``: choices below headings, in place of ``choices``;
    * ``suggestions``: texts that a text box proposes;
    * ``text_label``: ``checkboxes`` have a text box with this label, for values that they do not offer;
    * ``target``: the resource that a ``picker`` searches, and ``key`` the field of it that is the value;
    * ``type_control``: for an ``object``, the name of the control with the type, whose choices have ``sources``;
    * ``parameters``: query parameters that limit what a picker searches; ``{id}`` in them is the object of the form;
    * ``depends_on``: names of other controls of the form, each with the parameter of the list that takes its value;
    * ``attributes``: further HTML attributes, such as ``maxlength``; ``unit`` is written behind the input;
    * ``input_type``: type of the HTML input, in place of that of the kind;
    * ``lines``: visible lines of a ``textarea``;
    * ``typed``: the text that was entered beside the select of a picker;
    * ``path``: the members that lead to its value in a body and in a representation, by default its name's parts;
    * ``mentioned_as``: the words by which messages about the whole object mean it;
    * ``owns_errors``: messages that name nothing else of the form are about its value;
    * ``more``: a ``picker`` has more objects than it offers; ``may_add``: the user may create one;
    * ``offer``: choices that depend on other controls, for forms of one object; ``offered``: they were asked for;
    * ``taken``: values among the choices that cannot be chosen;
    * ``group``: the heading of the group that it belongs to, if the resource's presentation has none for its field;
    * ``read`` and ``show``: conversion of texts to a value and back, in place of those of the field and the kind.
    """

    name: str
    label: str
    kind: str = "text"
    help: str = ""
    required: bool = False
    multiple: bool = False
    values: Sequence[str] = ()
    choices: Choices = ()
    choice_groups: Sequence[tuple[str, Choices]] = ()
    suggestions: Sequence[str] = ()
    text_label: str = ""
    target: Endpoint | None = None
    key: str = "id"
    type_control: str = ""
    sources: Mapping[str, str] = dataclasses.field(default_factory=dict)
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)
    depends_on: Mapping[str, str] = dataclasses.field(default_factory=dict)
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    unit: str = ""
    input_type: str = ""
    lines: int = 4
    typed: str = ""
    path: tuple[str, ...] = ()
    group: str = ""
    offer: ChoiceOffer | None = None
    offered: bool = False
    taken: Collection[str] = ()
    field: Field | None = None
    read: Callable[[Sequence[Any]], Any] | None = None
    show: Callable[[Any], Sequence[str]] | None = None
    more: bool = False
    may_add: bool = False
    mentioned_as: str = ""
    owns_errors: bool = False
    colors: Mapping[str, str] = dataclasses.field(default_factory=dict)
    errors: Sequence[str] = ()
    conflict: Any = None

    def __post_init__(self) -> None:
        self.path = self.path or tuple(self.name.split("."))

    @property
    def has_lines(self) -> bool:
        """True for a text of several lines, whose breaks an input of one line would lose (HTML, 4.10.5.1.2)."""
        return self.kind in ("text", "list") and "\n" in self.value

    @property
    def value(self) -> str:
        """The text that it holds."""
        return self.values[-1] if self.values else ""

    def texts_in(self, members: Members) -> list[str]:
        """The texts that a form sent for it."""
        return [with_newlines(text) for text in members.get(self.name, ()) if isinstance(text, str) and text]

    def parameters_of(self, key: str) -> Mapping[str, str]:
        """Its query parameters for the object with an id; without those about the object for a new one."""
        texts = self.parameters.items()
        return {name: text.replace("{id}", key) for name, text in texts if key or "{id}" not in text}

    @property
    def source(self) -> str:
        """The path of the list that a picker searches."""
        return "" if self.target is None else page_path(self.target)


def with_newlines(text: str) -> str:
    """A text whose lines end in LF: browsers send CRLF for each break in a text area."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


# Returns the controls of a field, without values: one, several for a field with members, ``None`` for a field that
# forms leave out. An offer adds choices to the control that the field has anyway.
ControlFactory = Callable[[UnitOfWork, Endpoint, Field], Control | Sequence[Control] | None] | ChoiceOffer
# A class of fields, or the label of a model with the name of one of its fields.
FactoryKey = type[Field] | tuple[str, str]


def _base(field: Field, kind: str = "text", **options: Any) -> Control:
    required = field.required and not field.nullable
    return Control(field.name, label_of(field), kind, help=field.help, required=required, field=field, **options)


def _value(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, fields.Value)
    paired = type_field_of(endpoint, field.name)
    if paired:
        control = _base(field, "object", type_control=paired)
        return dataclasses.replace(control, label=label_of_name(field.name.removesuffix("_id")))
    offered = [(str(entry["value"]), str(entry["display"])) for entry in field.options().get("choices", ())]
    if offered:
        several = isinstance(field, fields.ListValue)
        return _base(field, "checkboxes" if several else "select", choices=offered, multiple=several)
    if isinstance(field, fields.ListValue):
        return _base(field, "list")
    if field.python_type is bool and not field.nullable:
        return _base(field, "checkbox")
    if field.info.kind == "json":
        return _base(field, "json")
    return _scalar(field)


def _scalar(field: fields.Value) -> Control:
    """The control of a single value, by its Python type."""
    info, python_type = field.info, field.python_type
    attributes: dict[str, Any] = {"maxlength": field.length} if field.length else {}
    if python_type is bool:
        return _base(field, "select", choices=[("true", "Yes"), ("false", "No")])
    if python_type in (int, float, decimal.Decimal):
        bounds = {"min": info.minimum, "max": info.maximum, "step": "1" if python_type is int else "any"}
        attributes = {name: bound for name, bound in bounds.items() if bound is not None}
        return _base(field, "number", attributes=attributes, unit=info.unit)
    if python_type is datetime.date:
        return _base(field, "date")
    if python_type is datetime.datetime:
        return _base(field, "datetime", unit="UTC", attributes={"step": "1"})
    if field.write_only or field.confidential:
        return _base(field, "password", attributes={"autocomplete": "new-password"})
    if is_color(field):
        return _base(field, "color", attributes=attributes)
    if python_type is str and not field.length and info.parse is None:
        markdown = field.name in MARKDOWN_NAMES
        return _base(field, "textarea", attributes={"data-markdown": ""} if markdown else {})
    if info.multiline:
        return _base(field, "textarea", attributes=attributes, lines=3)
    if info.kind == "slug":
        attributes |= {"data-slug-of": info.slug_of or "", "data-slug-joint": info.slug_joint}
    return _base(field, attributes=attributes, suggestions=info.suggestions, unit=info.unit)


def is_color(field: Field) -> bool:
    """True for a field with six hexadecimal digits of a colour."""
    return isinstance(field, fields.Value) and field.attribute == "color" and field.python_type is str


def type_field_of(endpoint: Endpoint, name: str) -> str:
    """The field with the content type of the object whose id a field has; empty for other fields."""
    generic = (field for field in endpoint.fields.values() if isinstance(field, fields.GenericForeignKey))
    pairs = [*((field.type_attribute, field.id_attribute) for field in generic), *endpoint.resource.about]
    return next((type_ for type_, key in pairs if key == name and type_ in endpoint.writable), "")


def _choice(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, fields.Choice)
    return _base(field, "select", choices=[(str(value), label) for value, label in field.choices.items])


def _status(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, fields.Status)
    return _base(field, "select", choices=references.statuses_for(uow, field, endpoint))


def _reference(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control | None:
    assert isinstance(field, fields.Reference | fields.ToMany)
    if field.target is None:
        return None
    presentation = presentation_of(endpoint)
    depends_on, limits = (item.get(field.name, {}) for item in (presentation.depends_on, presentation.limits))
    key = (field.by or "id") if isinstance(field, fields.ToMany) else "id"
    multiple = isinstance(field, fields.ToMany) and not isinstance(field, fields.ToOne)
    return _base(
        field, "picker", target=field.target, key=key, depends_on=depends_on, parameters=limits, multiple=multiple
    )


def _content_types(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, fields.ContentTypeList)
    registry = uow.registry
    labels = [
        label for label in registry.endpoints if field.allowed(registry, label) and registry[label].resource.of is None
    ]
    every = [("All", [(EVERY_TYPE, "All object types, of packages installed later too")])] if field.everything else []
    return _base(field, "checkboxes", multiple=True, choice_groups=[*every, *grouped_by_section(registry, labels)])


def grouped_by_section(registry: Registry, labels: Sequence[str]) -> list[tuple[str, Choices]]:
    """Content types with their titles, below the sections of the navigation that they are in."""
    rest = dict.fromkeys(labels)
    groups: dict[str, list[tuple[str, str]]] = {}
    for section, app in declared_sections(registry):
        endpoints = [
            registry.by_path.get((app, entry)) if isinstance(entry, str) else registry.get(entry.label)
            for entry in section.entries
        ]
        for endpoint in endpoints:
            if endpoint is not None and endpoint.label in rest:
                rest.pop(endpoint.label)
                groups.setdefault(section.title, []).append((endpoint.label, title_of(endpoint)))
    others = [(label, title_of(registry[label])) for label in rest if label in registry.endpoints]
    return [*groups.items(), *([("Others", sorted(others))] if others else [])]


def type_choices(registry: Registry, field: Field, labels: Sequence[str]) -> Control:
    """A select of content types, each with the path of its list for the control of an object that depends on it."""
    sources = {label: page_path(registry[label]) for label in labels if label in registry.endpoints}
    return _base(field, "select", choice_groups=grouped_by_section(registry, labels), sources=sources)


def _image(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    return _base(field, "file", attributes={"accept": "image/*"})


def _other(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control | None:
    """The control of a field of any other kind: its JSON, or its text. Without a value to show it is left out."""
    if field.kind == "string":
        return _base(field)
    return None if field.write_only else _base(field, "json")


FACTORIES: dict[type[Field], ControlFactory] = {
    fields.Value: _value,
    fields.Choice: _choice,
    fields.Status: _status,
    fields.Reference: _reference,
    fields.ToMany: _reference,
    fields.ContentTypeList: _content_types,
    fields.Image: _image,
    Field: _other,
}


@cached_in_registry
def factories_of(registry: Registry) -> Mapping[FactoryKey, ControlFactory]:
    """The factories by kind of field, those of packages included; cached for each registry."""
    factories: dict[FactoryKey, ControlFactory] = dict(FACTORIES.items())
    for package, more in registry.call_each("netinv_web_controls", registry=registry):
        with errors_of(package):
            factories |= more
    return factories


def controls_of(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> list[Control]:
    """The controls of a field: by the factory for this field alone, or for its nearest class that has one."""
    factories = factories_of(uow.registry)
    keys: tuple[FactoryKey, ...] = ((endpoint.label, field.name), *type(field).__mro__)
    offer: ChoiceOffer | None = None
    for factory in (factories[key] for key in keys if key in factories):
        if isinstance(factory, ChoiceOffer):
            offer = factory
            continue
        controls = factory(uow, endpoint, field)
        if isinstance(controls, Control):
            controls.offer = offer
            return [controls]
        return list(controls or ())
    raise LookupError(field.name)


def control_of(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control | None:
    """The control of a field that has a single one; ``None`` for others."""
    controls = controls_of(uow, endpoint, field)
    return controls[0] if len(controls) == 1 else None
