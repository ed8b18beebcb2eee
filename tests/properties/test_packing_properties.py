"""Properties of packed change records: what is packed is read back, whatever it holds."""

from __future__ import annotations

import uuid
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netinv_core.changelog.packing import PARTS, dictionaries, pack, unpack
from netinv_core.db.engine import as_stored

LABELS = sorted(dictionaries().numbers)
ids = st.uuids()
texts = st.text(alphabet=st.characters(exclude_categories=["Cs"])) | ids.map(str) | ids.map(lambda key: f"/api/{key}/")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | texts | ids,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(texts, values, max_size=40)


@given(st.sampled_from(LABELS), ids, documents, st.none() | documents, documents, st.lists(ids, max_size=40))
@pytest.mark.night
def test_what_is_packed_is_read_back(
    label: str, key: uuid.UUID, flat: dict[str, Any], before: Any, after: dict[str, Any], more: list[uuid.UUID]
) -> None:
    flat = {**flat, **{f"reference {n}": item for n, item in enumerate(more)}}
    states = {"object_data": flat, "before": before, "after": {**after, "id": key, "url": f"/api/{key}/", "ids": more}}
    packed = pack(label, key, states)
    for name in PARTS:
        for own_id in (key.bytes, str(key).encode(), key.hex.encode()):
            assert orjson.dumps(unpack(packed + own_id, name)) == orjson.dumps(as_stored(states[name]))
