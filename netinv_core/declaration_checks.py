"""Checks of the models that plugins declare, before anything is made of them: each mistake names the model, the column
and what is expected.
"""

from __future__ import annotations

import decimal
import inspect
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from netinv_core.fields.from_column import OPTION_KINDS
from netinv_core.models.base import Base
from netinv_core.models.columns import APP_HANDLED, CASCADE, PROTECT, SET_NULL, Choices, ColumnInfo, column_info
from netinv_core.write.reading_rules import ReadingRule

if TYPE_CHECKING:
    from netinv_core.app import App
    from netinv_core.resource import Resource

POLICIES = {PROTECT: "PROTECT", CASCADE: "CASCADE", SET_NULL: "SET_NULL"}
_PATH = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SCALARS = (bool, int, str)  # types whose defaults are checked
_OTHER_FORM = {"json", "opaque", "secret"}  # kinds of columns whose values are represented in a form of their own


class DeclarationError(ValueError):
    """A declaration of a plugin that requests would fail on."""


def check_call(declared: str, function: Any, count: int | None) -> None:
    """Checks that a function takes so many values.

    :raises DeclarationError: when it takes others
    """
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some functions of Python
        return
    try:
        signature.bind(*[None] * (count or 0))
    except TypeError:
        if count is not None:
            raise DeclarationError(f"{declared} takes {signature}; expected {count} parameters") from None


def check(app: App, resource: Resource) -> None:
    """Checks a resource of a plugin, its model and its rules.

    :raises DeclarationError: for the first mistake
    """
    for mistake in _mistakes(app, resource):
        raise DeclarationError(mistake)


def _mistakes(app: App, resource: Resource) -> Iterator[str]:
    model: Any = resource.model
    if not (inspect.isclass(model) and issubclass(model, Base)):
        yield f"the model of the resource {resource.name!r} is {model!r}; expected a class derived from Primary or Base"
        return
    name = model.__name__
    table: Any = model.__table__
    if not _PATH.fullmatch(resource.name):
        yield f"{name}: the path of its resource is {resource.name!r}; expected small letters, digits and hyphens"
    if app.migrations and resource.of is None and not table.name.startswith(f"{app.name}_"):
        yield f"{name}: __tablename__ is {table.name!r}; expected a name that begins with '{app.name}_'"
    if resource.of is None:
        yield from (f"{name}: {mistake}" for mistake in _of_key(table))
    for column in table.c:
        yield from (f"{name}.{column.key}: {mistake}" for mistake in _of_column(column, set(table.c.keys())))
    for rule in resource.rules:
        yield from _of_rule(name, rule)


def check_rule(name: str, rule: Any) -> None:
    """Checks a rule that is attached to a model.

    :raises DeclarationError: when it is no function of two arguments
    """
    for mistake in _of_rule(name, rule):
        raise DeclarationError(mistake)


def _of_rule(name: str, rule: Any) -> Iterator[str]:
    function = rule.function if isinstance(rule, ReadingRule) else rule
    if not callable(function):
        yield f"{name}: a rule is {function!r}; expected a function (uow, drafts)"
    elif not _takes_two(function):
        called = getattr(function, "__name__", repr(function))
        yield f"{name}: the rule {called} takes {inspect.signature(function)}; expected (uow, drafts)"


def _of_column(column: Any, names: set[str]) -> Iterator[str]:
    """The mistakes of a column of a table with these columns."""
    info = column_info(column)
    yield from _of_reference(column, info)
    yield from _of_type(column, info)
    yield from _of_values(column, info)
    length = getattr(column.type, "length", None)
    if length is not None and not (isinstance(length, int) and length > 0):
        yield f"length is {length!r}; expected a whole number above 0"
    if isinstance(column.type, sa.Numeric) and (column.type.precision or 0) < (column.type.scale or 0):
        yield f"places is {column.type.scale}; expected at most the {column.type.precision} digits"
    for option, of in (("natural_sort_key", info.sort_key_of), ("slug", info.slug_of), *_copied_options(info)):
        if of and of not in names:
            yield f"{option} is made of {of!r}, which is no column; expected one of {', '.join(sorted(names))}"


def _of_key(table: Any) -> Iterator[str]:
    """The mistakes of the primary key of a table."""
    names = [column.key for column in table.primary_key]
    if names != ["id"]:
        yield f"its primary key is {', '.join(names)}; expected the column id, which Primary and Model have"
    elif table.c.id.default is None and not isinstance(table.c.id.type, sa.Integer):
        yield "its column id has no default; expected that of Primary or Model"


def _of_type(column: Any, info: ColumnInfo) -> Iterator[str]:
    """The mistakes of the type of a column whose values are read and written."""
    if info.hidden or info.parse is not None or info.foreign_key is not None or info.kind in _OTHER_FORM:
        return
    kind = _python_type(column)
    if kind not in OPTION_KINDS:
        expected = ", ".join(sorted(known.__name__ for known in OPTION_KINDS))
        yield f"its type is {column.type!r}, which has no form in JSON; expected one of {expected}, or json_document()"
    elif kind is decimal.Decimal and None in (column.type.precision, column.type.scale):
        yield f"its type is {column.type!r}; expected decimal_number(digits, places)"


def _copied_options(info: ColumnInfo) -> Iterator[tuple[str, str]]:
    if info.copy_of is not None:
        yield from (("unique_copy", name) for name in info.copy_of)


def _of_reference(column: Any, info: ColumnInfo) -> Iterator[str]:
    link = info.foreign_key
    if link is None:
        if column.foreign_keys:
            target = next(iter(column.foreign_keys)).target_fullname
            yield f"it refers to {target} by ForeignKey(…), which deletions do not follow; expected foreign_key(…)"
        return
    if link.on_delete not in (*POLICIES, APP_HANDLED):
        yield f"on_delete is {link.on_delete!r}; expected {', '.join(POLICIES.values())}"
    if link.on_delete == SET_NULL and not column.nullable:
        yield "on_delete is SET_NULL, and the column takes no null; expected Mapped[Ref | None], or another policy"


def _of_values(column: Any, info: ColumnInfo) -> Iterator[str]:
    """The mistakes of bounds, choices and the default of a column."""
    for name, bound in (("minimum", info.minimum), ("maximum", info.maximum)):
        if bound is not None and not isinstance(bound, int | float):
            yield f"{name} is {bound!r}; expected a number"
            return
    if info.minimum is not None and info.maximum is not None and info.minimum > info.maximum:
        yield f"minimum is {info.minimum}; expected at most the maximum, {info.maximum}"
    if info.choices is not None and not isinstance(info.choices, Choices):
        yield f"choices is {info.choices!r}; expected Choices.of(…)"
        return
    if column.default is None or not column.default.is_scalar:
        return
    default = column.default.arg
    if info.choices is not None and default not in (*info.choices.labels, "", None):
        yield f"default is {default!r}; expected one of {', '.join(map(repr, info.choices.labels))}"
    kind = _python_type(column)
    if kind in _SCALARS and not isinstance(default, kind):
        yield f"default is {default!r}; expected a value of the type {kind.__name__}"


def _python_type(column: Any) -> Any:
    try:
        return column.type.python_type
    except NotImplementedError:
        return None


def check_json(declared: str, schema: Any) -> None:
    """Checks that a schema can be part of a document.

    :raises DeclarationError: for one that JSON cannot hold
    """
    try:
        orjson.dumps(schema)
    except orjson.JSONEncodeError as error:
        raise DeclarationError(f"{declared} cannot be written as JSON: {error}") from error


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True
