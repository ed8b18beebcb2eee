"""Column constructors, and :class:`ColumnInfo`: what the service knows of a column beyond its SQL type.

It is kept in the column's ``info`` under the key ``netinv``.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from sqlalchemy import JSON, BigInteger, Boolean, ForeignKey, Integer, Numeric
from sqlalchemy.orm import DeclarativeBase, MappedColumn, mapped_column

from netinv_core.masking import mask
from netinv_core.models.types import Chars, Json, Key, LongText
from netinv_core.nearest import advice
from netinv_core.storage.files import MAX_NAME_LENGTH

#: ``on_delete``: the deletion of an object that others refer to is refused.
PROTECT = "protect"
#: ``on_delete``: the objects that refer to a deleted one are deleted with it.
CASCADE = "cascade"
#: ``on_delete``: the reference to a deleted object becomes null.
SET_NULL = "set null"
APP_HANDLED = "handled by the application"
#: The target of a foreign key to the model itself.
SELF = "self"


@dataclasses.dataclass(frozen=True)
class ForeignKeyInfo:
    """Target of a foreign key, and the effect of the target's deletion.

    ``target`` is a model class, :data:`SELF`, or a label such as ``"ipam.ipaddress"`` for a model of a package that
    imports this one (a *late* foreign key: it has no constraint in the database and stays null while the package is not
    installed). ``related_name`` is the reverse relation, for filter paths of the target; ``count_field`` a counter on
    the target. ``on_delete`` is one of the policies above. With :data:`APP_HANDLED` a ``before_delete`` function of the
    target's resource clears it. ``lookup`` is the column by which filters of this reference identify the target.
    ``one_name`` is the name in GraphQL of the one object that refers. ``when_cleared`` is a sentence for pages that
    delete the target: what becomes of the objects whose reference is set to null.
    """

    target: type[DeclarativeBase] | str
    on_delete: str
    related_name: str | None = None
    count_field: str | None = None
    lookup: str | None = None
    one_name: str | None = None
    when_cleared: str = ""


@dataclasses.dataclass(frozen=True)
class Choices:
    """A closed set of values with their labels, in display order."""

    items: tuple[tuple[Any, str], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", dict(self.items))

    labels: Mapping[Any, str] = dataclasses.field(init=False, default_factory=dict, compare=False)

    @classmethod
    def of(cls, *items: tuple[Any, str], **by_name: str) -> Choices:
        """``Choices.of(front="Front", rear="Rear")`` or ``Choices.of((19, "19 inches"), …)``."""
        return cls((*items, *by_name.items()))

    def __iter__(self) -> Iterable[tuple[Any, str]]:
        return iter(self.items)


@dataclasses.dataclass(frozen=True)
class ColumnInfo:
    """Properties of a column beyond its SQL type; see the constructors below.

    * ``in_object_data``: ``False`` leaves the column out of the flat form of change records, a function converts its
      value there. By default all columns that are not hidden are in it.
    * ``folder``: folder of the files that the column names; ``size``: the columns with width and height of the image.
    * ``nested_fields``: fields of a reference's target after ``display, id, url``, in place of its brief form.
    * ``max_length``: limit in characters below that of the column's type.
    * ``restored``: a value that clients cannot write is written again when a deleted object is restored
      (:mod:`netinv_undo`). Without it, the column of a restored object is computed anew.
    * ``unit``: unit of a number, which pages write behind it.
    * ``suggestions``: texts that forms propose; others are valid too, or ``parse`` rejects them.
    * ``lowered``: texts are stored in lower case, as their case says nothing;
    * ``multiline``: texts usually have several lines, which forms show as such;
    * ``encrypted``: the value is encrypted with ``netinv.secret`` (:mod:`netinv_core.auth.stored_secrets` finds it).
    * ``initial``: names of the target's rows that a migrated database has for this reference.
    * ``member_names``: names that members of a JSON object have in constraints (:mod:`netinv_core.sql.documents`).
    * ``masked``: function that masks the value in change records (:mod:`netinv_core.masking`).

    ``confidential`` marks a credential or its hash. Its value is never filtered, sorted or searched by, reached by a
    path, nested, displayed, recorded, rendered by templates or read by GraphQL; the field of such a column shows no
    more than that there is a value.
    """

    kind: str = "value"
    label: str | None = None
    help: str = ""
    blank: bool = False
    required: bool | None = None
    read_only: bool = False
    write_only: bool = False
    hidden: bool = False
    confidential: bool = False
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    pattern_error: str = "Enter a valid value."
    taken_error: str = ""
    choices: Choices | None = None
    plain: bool = False
    nested_fields: tuple[str, ...] = ()
    foreign_key: ForeignKeyInfo | None = None
    sort_key_of: str | None = None
    copy_of: tuple[str, str] | None = None
    slug_of: str | None = None
    slug_joint: str = "-"
    parse: Callable[[Any], Any] | None = None
    in_object_data: Callable[[Any], Any] | bool | None = None
    folder: str = ""
    size: tuple[str, str] | None = None
    masked: Callable[[Any], Any] | None = None
    restored: bool = False
    unit: str = ""
    suggestions: tuple[str, ...] = ()
    lowered: bool = False
    multiline: bool = False
    encrypted: bool = False
    initial: tuple[str, ...] = ()
    member_names: tuple[str, ...] = ()


def column(
    type_: Any = None,
    *,
    default: Any = dataclasses.MISSING,
    unique: bool = False,
    index: bool = False,
    length: int | None = None,
    sort_order: int = 0,
    **attributes: Any,
) -> MappedColumn[Any]:
    """The general constructor: a column with its :class:`ColumnInfo`, given by keyword.

    ``sort_order`` is the place of a mixin's column in the table; below 0, before the columns of the model.
    """
    options: dict[str, Any] = {"info": {"netinv": _info(attributes)}, "sort_order": sort_order}
    if default is not dataclasses.MISSING:
        options["default"] = default
    if unique:
        options["unique"] = True
    if index:
        options["index"] = True
    if length is not None:
        type_ = Chars(length)
    return mapped_column(type_, **options) if type_ is not None else mapped_column(**options)


def _info(attributes: Mapping[str, Any]) -> ColumnInfo:
    """The properties of a column by name.

    :raises TypeError: for a name that is not one of them
    """
    known = [field.name for field in dataclasses.fields(ColumnInfo)]
    for name in attributes:
        if name not in known:
            raise TypeError(f"a column has no option {name!r}; {advice(name, known)}")
    return ColumnInfo(**attributes)


def text(length: int | None = None, help: str = "", *, default: Any = "", **attributes: Any) -> MappedColumn[Any]:
    """An optional string, blank by default. ``length`` in characters, ``None`` for no limit."""
    return column(LongText() if length is None else Chars(length), default=default, help=help, blank=True, **attributes)


def optional_text(length: int, help: str = "", **attributes: Any) -> MappedColumn[Any]:
    """A string that may be null (``Mapped[str | None]``) or blank."""
    return column(Chars(length), default=None, help=help, blank=True, **attributes)


def required_text(length: int | None = None, help: str = "", **attributes: Any) -> MappedColumn[Any]:
    """A required string that may not be blank."""
    return column(LongText() if length is None else Chars(length), help=help, **attributes)


def integer(
    minimum: int | None = None, maximum: int | None = None, help: str = "", **attributes: Any
) -> MappedColumn[Any]:
    """An integer within bounds, both included."""
    type_ = BigInteger() if isinstance(maximum, int) and maximum > 2**31 - 1 else Integer()
    return column(type_, minimum=minimum, maximum=maximum, help=help, **attributes)


def decimal_number(digits: int, places: int, help: str = "", **attributes: Any) -> MappedColumn[Any]:
    """A decimal of ``digits`` digits in all, ``places`` of them after the point; written as a string in JSON."""
    return column(Numeric(digits, places, asdecimal=True), help=help, **attributes)


def encrypted_text(length: int = 255, help: str = "", **attributes: Any) -> MappedColumn[Any]:
    """An optional text, encrypted in the database (:func:`netinv_core.crypto.encrypt`) and never shown, only
    masked.
    """
    options: dict[str, Any] = {
        "kind": "secret",
        "blank": True,
        "max_length": length,
        "confidential": True,
        "encrypted": True,
        "masked": mask,
        "help": help,
    }
    return column(LongText(), default="", **options, **attributes)


def choice(
    choices: Choices, length: int | None = 50, *, default: Any = "", plain: bool = False, **attributes: Any
) -> MappedColumn[Any]:
    """One of a closed set; read as ``{value, label}`` unless ``plain``. ``default=""`` makes it optional."""
    type_ = Chars(length) if length else Integer()
    blank = attributes.pop("blank", default == "")
    return column(type_, default=default, kind="choice", choices=choices, plain=plain, blank=blank, **attributes)


def boolean(default: bool, help: str = "", **attributes: Any) -> MappedColumn[Any]:
    """A boolean with a default."""
    return column(Boolean(), default=default, help=help, **attributes)


def json_document(help: str = "", *, default: Any = None, **attributes: Any) -> MappedColumn[Any]:
    """A JSON document."""
    return column(Json(), default=default, kind="json", help=help, **attributes)


def slug(of: str = "name", length: int = 100, *, unique: bool = True, **attributes: Any) -> MappedColumn[Any]:
    """A URL-friendly name, generated from the field ``of`` if left out. ``slug_joint`` separates its words."""
    return column(
        Chars(length),
        unique=unique,
        kind="slug",
        blank=True,
        slug_of=of,
        pattern=r"^[-a-zA-Z0-9_]+\Z",
        pattern_error='Enter a valid "slug" consisting of letters, numbers, underscores or hyphens.',
        **attributes,
    )


def natural_sort_key(of: str, *, default: str | None = "") -> MappedColumn[Any]:
    """A hidden sort key for natural order of the field ``of`` (``eth2`` before ``eth10``).

    With ``default=None`` (``Mapped[str | None]``) objects without a name sort last.
    """
    return column(Chars(255), default=default, index=True, hidden=True, sort_key_of=of)


def unique_copy(of: str, *, without: str, length: int) -> MappedColumn[Any]:
    """A hidden copy of the column ``of`` while the reference ``without`` is null, else null (``Mapped[str | None]``);
    not a field.

    In a UNIQUE constraint no null equals another: ``(site_id, tenant_id, name)`` lets two rows without a tenant have
    the same name. A second constraint over the copy, ``(site_id, untenanted_name)``, closes that gap on every database.
    Blank values are not copied.
    """
    return column(Chars(length), default=None, hidden=True, copy_of=(of, without))


def color(default: str = "9e9e9e") -> MappedColumn[Any]:
    """A hexadecimal RGB colour, six lower-case digits."""
    return column(
        Chars(6),
        default=default,
        pattern=r"^[0-9a-f]{6}\Z",
        pattern_error="Enter a valid hexadecimal RGB color code.",
    )


def image(folder: str, **attributes: Any) -> MappedColumn[Any]:
    """The file name of an image in ``folder`` (:mod:`netinv_core.storage.files`): read as a URL, written as a file of a
    form.
    """
    return column(Chars(MAX_NAME_LENGTH), index=True, kind="image", folder=folder, **attributes)


def email(length: int = 254, **attributes: Any) -> MappedColumn[Any]:
    """An optional e-mail address."""
    return column(Chars(length), default="", blank=True, kind="email", **attributes)


def url(length: int = 200, **attributes: Any) -> MappedColumn[Any]:
    """An optional absolute URL (RFC 3986), of any scheme."""
    return column(Chars(length), default="", blank=True, kind="url", **attributes)


def foreign_key(
    target: type[DeclarativeBase] | str,
    *,
    on_delete: str,
    related_name: str | None = None,
    count_field: str | None = None,
    unique: bool = False,
    index: bool = True,
    kind: str = "reference",
    lookup: str | None = None,
    one_name: str | None = None,
    when_cleared: str = "",
    sort_order: int = 0,
    **attributes: Any,
) -> MappedColumn[Any]:
    """A foreign key: read as the nested target, written as its id or as attributes that match exactly one object.

    The field is named without the ``_id`` of the attribute. See :class:`ForeignKeyInfo` for the parameters.
    ``index=False`` suits a column with which another index begins.

    :raises TypeError: for a target that is no model
    """
    link = ForeignKeyInfo(target, on_delete, related_name, count_field, lookup, one_name, when_cleared)
    info = {"netinv": _info({"kind": kind, "foreign_key": link, **attributes})}
    options: dict[str, Any] = {
        "unique": unique or None,
        "index": index and not unique,
        "info": info,
        "sort_order": sort_order,
    }
    if isinstance(target, str):
        return mapped_column(Key(), **options)
    if not hasattr(target, "__table__"):
        raise TypeError(f"a foreign key refers to {target!r}; expected a model, SELF, or the label of one, 'app.model'")
    return mapped_column(ForeignKey(target.__table__.c.id), **options)


#: The column of a reference: ``site_id: Mapped[Ref] = foreign_key(Site, …)``, ``Mapped[Ref | None]`` if optional.
Ref = Annotated[uuid.UUID, mapped_column(Key())]
#: A required text of at most 100 characters.
Name = Annotated[str, required_text(100)]
#: A unique slug, made from the name if left out.
Slug = Annotated[str, slug()]
#: An optional text of at most 200 characters.
Description = Annotated[str, text(200)]
#: An optional text without a limit, which pages show as Markdown.
Comments = Annotated[str, text(None)]


def column_info(column: Any) -> ColumnInfo:
    """The :class:`ColumnInfo` of a column of a mapped table."""
    info = column.info.get("netinv")
    if isinstance(info, ColumnInfo):
        return info
    return ColumnInfo(kind="json") if isinstance(column.type, Json | JSON) else ColumnInfo()
