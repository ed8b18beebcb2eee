"""Cell of a stored filter or condition: names and values in the words of the chips of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from netinv_core.labels import label_of_name
from netinv_core.read.filters import find_filter
from netinv_core.types import Endpoint, Field, JoinedTable, ReadPlan
from netinv_extras.saved_filters import value_text
from netinv_web.cells import EMPTY, CellReader
from netinv_web.lists.filter_bar import LOOKUP_WORDS, words_of
from netinv_web.markup import text_markup

IS_EMPTY, IS_SET = "is empty", "is not empty"
FIELDS, IS_NULL = "cf_", "isnull"  # prefix of the filters of custom fields; a lookup
# Words for the lookups of fields, as in the constraints of permissions.
FIELD_LOOKUPS = {
    "exact": "is",
    "in": "is",
    "iexact": "is, in any case,",
    "contains": "contains",
    "icontains": "contains, in any case,",
    "startswith": "starts with",
    "istartswith": "starts, in any case, with",
    "endswith": "ends with",
    "iendswith": "ends, in any case, with",
    "regex": "matches",
    "iregex": "matches, in any case,",
    "gt": ">",
    "gte": "≥",
    "lt": "<",
    "lte": "≤",
}
_CHIP = Markup('<span class="chip"><span>{} <span class="muted">{}</span>{}</span></span>')


def cell(plan: ReadPlan, place: JoinedTable, field: Field) -> CellReader:
    """The reader of the cells of a field with a filter of the list of the object's ``content_type``."""
    read, label = plan.reader_of(place, field), plan.column(place, "content_type")

    def shown(row: Any, page: Any) -> Markup:
        value, endpoint = read(row, page), plan.registry.get(row[label])
        if not value:
            return EMPTY
        if endpoint is None or not isinstance(value, dict):
            return text_markup(value)
        return Markup('<span class="chips">{}</span>').format(
            Markup(" ").join(_chip(*condition_words(endpoint, name, given)) for name, given in value.items())
        )

    return shown


def _chip(label: str, lookup: str, texts: Sequence[str]) -> Markup:
    return _CHIP.format(label, lookup, f" {', '.join(texts)}" if texts else "")


def condition_words(endpoint: Endpoint, name: str, given: Any) -> tuple[str, str, list[str]]:
    """The label of a name of a filter or condition, its lookup in words, and the texts of its values. No statement."""
    values = [_text(value) for value in (given if isinstance(given, list) else [given])]
    match = find_filter(endpoint.filters, name)
    if match is not None:
        label, lookup, texts = words_of(endpoint, match, values, {})
    elif name.startswith(FIELDS):
        base, _, suffix = name.removeprefix(FIELDS).partition("__")
        label, lookup, texts = label_of_name(base), LOOKUP_WORDS.get(suffix, suffix), values
    else:
        return _field_words(name, given, values)
    if values == [""]:
        return label, {"is": IS_EMPTY, "is not": IS_SET}.get(lookup, lookup), []
    return label, lookup, texts


def _text(value: Any) -> str:
    try:
        return value_text(value)
    except ValueError:
        return str(value)


def _field_words(name: str, given: Any, values: list[str]) -> tuple[str, str, list[str]]:
    """The words of a field lookup along references, such as ``site__region__slug__in``."""
    *path, last = name.split("__")
    is_lookup = bool(path) and (last in FIELD_LOOKUPS or last == IS_NULL)
    label = " › ".join(label_of_name(step) for step in (path if is_lookup else [*path, last]))
    if is_lookup and last == IS_NULL:
        return label, IS_EMPTY if given else IS_SET, []
    return label, FIELD_LOOKUPS[last] if is_lookup else FIELD_LOOKUPS["exact"], values
