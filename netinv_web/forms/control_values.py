"""Values of controls: the texts that show a value of a representation, and the value that texts of a form stand for."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander
import orjson

from netinv_core import fields, json_values
from netinv_core.http.serialization import dumps
from netinv_core.storage.files import Upload
from netinv_outgoing.urls import path_of
from netinv_web.forms.controls import Control, with_newlines

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MAX_RANGE = 10_000  # numbers that ranges of a list stand for
ABSENT: Any = object()  # a member that a representation or a form does not have
_RANGE = re.compile(r"(\d{1,9})\s*-\s*(\d{1,9})\Z")


# -- showing values


def member(representation: Mapping[str, Any], path: Sequence[str]) -> Any:
    """The value at a path of a representation; :data:`ABSENT` where it has none."""
    value: Any = representation
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return ABSENT
        value = value[name]
    return value


def fill(control: Control, value: Any) -> None:
    """Sets the texts of a control from the value of a representation."""
    control.values = texts_of(control, value)
    if control.kind == "picker" and value is not ABSENT and value is not None:
        items = value if isinstance(value, list) else [value]
        control.choices = [(_key(control, item), _label(item)) for item in items]
        control.colors = {
            _key(control, item): item["color"] for item in items if isinstance(item, dict) and item.get("color")
        }


def texts_of(control: Control, value: Any) -> list[str]:
    """The texts that a control shows for a value."""
    if value is ABSENT or value is None or value == []:
        return []
    if control.show is not None:
        return list(control.show(value))
    items = value if isinstance(value, list) and control.multiple else [value]
    if control.kind == "picker":
        return [_key(control, item) for item in items]
    if control.kind == "json":
        return [pretty_json(value)]
    if control.kind == "file":
        return [path_of(str(value))]
    if control.kind == "list":
        return [", ".join(map(str, value))]
    return [_text(control, item) for item in items]


def _key(control: Control, item: Any) -> str:
    return str(item.get(control.key, item.get("id", ""))) if isinstance(item, dict) else str(item)


def _label(item: Any) -> str:
    if isinstance(item, dict):
        return str(item.get("display") or item.get("name") or item.get("id"))
    return str(item)


def _text(control: Control, item: Any) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, dict):
        return str(item.get("value", item.get("id", "")))
    if isinstance(item, datetime.datetime):
        stamp = item.astimezone(datetime.UTC) if item.tzinfo else item
        return stamp.strftime("%Y-%m-%dT%H:%M:%S")
    if control.kind == "datetime" and isinstance(item, str):
        return _text(control, datetime.datetime.fromisoformat(item))
    if control.kind == "color" and item:
        return f"#{item}"
    return with_newlines(str(item))


def pretty_json(value: Any) -> str:
    """The value as indented JSON."""
    return orjson.dumps(orjson.loads(dumps(value)), option=orjson.OPT_INDENT_2).decode()


# -- reading texts


def value_of(control: Control, texts: Sequence[Any]) -> Any:
    """The value in a body that the texts of a control stand for; :data:`ABSENT` for a blank one that is left out.

    :raises colander.Invalid: for texts that cannot be converted
    """
    if control.read is not None:
        return control.read(texts)
    if control.kind == "checkbox":
        return bool(texts) and texts[-1] == "true"
    field = control.field
    if control.kind in _READERS:
        blank = not texts or (isinstance(texts[-1], str) and not texts[-1].strip())
        if not blank:
            return _READERS[control.kind](control, texts)
    if control.multiple and not texts:
        return []
    value = field.from_form(texts or [""]) if field is not None else (texts[-1] if texts else None)
    return ABSENT if value is fields.NONE else value


def _json(control: Control, texts: Sequence[Any]) -> Any:
    return parse_json(fields.last_text(texts))


def parse_json(text: str) -> Any:
    """Parses JSON; the error names line and column.

    :raises colander.Invalid: for text that is not JSON
    """
    try:
        return json_values.parse(text)
    except json_values.InvalidJson as error:
        if error.line:
            reason = str(error).partition(": line ")[0]
            place = f"line {error.line}, column {error.column}"
            raise colander.Invalid(None, f"This is not JSON: {reason} in {place}.") from None
        raise colander.Invalid(None, f"This JSON is not taken: {error}.") from None


def _list(control: Control, texts: Sequence[Any]) -> Any:
    """Items separated by commas; ranges of whole numbers stand for their numbers: ``22, 80-82``."""
    items: list[Any] = []
    for item in fields.cell_items(fields.last_text(texts)):
        ends = _RANGE.match(item.strip()) if isinstance(item, str) else None
        if ends is None:
            items.append(item)
            continue
        first, last = int(ends[1]), int(ends[2])
        if not 0 <= last - first < MAX_RANGE:
            raise colander.Invalid(None, f"The range {item} has to rise, by less than {MAX_RANGE}.")
        items += range(first, last + 1)
    return items


def _datetime(control: Control, texts: Sequence[Any]) -> Any:
    """A point in time; without an offset it is UTC, as it is shown."""
    text = fields.last_text(texts).strip()
    try:
        stamp = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    return text if stamp.tzinfo else stamp.replace(tzinfo=datetime.UTC).isoformat()


def _color(control: Control, texts: Sequence[Any]) -> Any:
    return fields.last_text(texts).strip().removeprefix("#").lower()


_READERS = {"json": _json, "list": _list, "datetime": _datetime, "color": _color}


def reference_of(target: Endpoint, text: str, key: str = "id") -> Any:
    """The reference that a person typed: an id, the address of a page, a slug or a name.

    :raises colander.Invalid: for text that can name no object of the model
    """
    text = text.strip()
    if "/" in text:
        last = path_of(text).rstrip("/").rpartition("/")[2]
        text = last if target.parse_key(last) is not None else text
    if target.parse_key(text) is not None or key != "id":
        return text
    named = target.named_in_cell(text)
    if named == text:
        raise colander.Invalid(None, f"“{text}” is no id of a {target.title}.")
    if target.natural_attribute == "slug" and text != text.lower() and "name" in target.table.c:
        return {"name": text}
    return named


def put(body: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Sets a member of a body by its path."""
    for name in path[:-1]:
        body = body.setdefault(name, {})
    body[path[-1]] = value


def is_upload(value: Any) -> bool:
    """True for a file that was chosen."""
    return isinstance(value, Upload) and bool(value.content or value.name)
