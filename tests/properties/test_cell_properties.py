"""Cells and documents: whatever a text holds, what was written is read again."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from netinv_core.fields import cells
from netinv_tabular import delimited, yaml_documents

pytestmark = pytest.mark.any_database
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
formula_like = st.builds(
    str.__add__, st.sampled_from(["=", "'=", "''@", "-", "+1", "-1", "\t", '""', '\'""', "'"]), texts
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(texts | formula_like)
def test_an_escaped_cell_is_no_formula_and_is_restored(text: str) -> None:
    cell = cells.escape_formula(text)
    assert cells.without_escape(cell) == text
    assert not cell.startswith(("=", "@", "\t", "\r", "\n"))
    if cell.startswith(("+", "-")):
        float(cell)


@given(texts | formula_like)
def test_a_blank_text_is_marked_and_no_other_text_is_taken_for_it(text: str) -> None:
    cell = cells.blank_marked(text)
    assert cell
    assert cells.without_blank_mark(cell) == text


@given(st.lists(texts.map(str.strip)))
@example([""])
@example(["a,b", '"', "c\nd"])
def test_items_of_a_list_are_restored(items: list[str]) -> None:
    assert cells.split_items(cells.join_items(items)) == items


@given(st.lists(st.lists(texts | formula_like, min_size=3, max_size=3), max_size=5), st.sampled_from([",", "\t"]))
def test_a_table_is_restored_without_its_empty_rows(rows: list[list[str]], delimiter: str) -> None:
    content = delimited.write(["a", "b", "c"], rows, delimiter).encode()
    table = delimited.read(content, max_rows=100, max_values=1000)
    assert table.names == ["a", "b", "c"]
    assert table.rows == [row for row in rows if any(map(str.strip, map(cells.escape_formula, row)))]


@given(values)
@example("1e5")
@example("089")
@example("0o17")
@example("2030-01-01")
@example({"yes": ["no", "~", "null", "", "<<", "="]})
@example('a\nb\u00a0\u2028\x7f\x1f\\"')
@example([[{"k" * 2000: {"\n" * 600: 1}}]])
def test_a_yaml_document_is_restored(value: Any) -> None:
    restored = orjson.loads(orjson.dumps(value))
    shared = [{"a": value, "b": [value], "k" * 2000: value}, {"a": value}, value]
    for part, expected in ((value, restored), (shared, orjson.loads(orjson.dumps(shared)))):
        document = yaml_documents.dump(part).decode()
        assert yaml_documents.load(document, max_values=10_000) == expected
        assert yaml.safe_load(document) == expected


@given(texts)
def test_any_text_is_a_document_or_refused(text: str) -> None:
    try:
        value = yaml_documents.load(text, max_values=1000)
    except yaml_documents.BadRequest:
        return
    orjson.dumps(value)
