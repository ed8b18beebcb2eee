"""Properties of active config contexts: the index finds those that a comparison with each of them finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netinv_extras.config_contexts.active import ActiveContexts, ScopedContext

scopes = st.sampled_from(["regions", "sites", "roles", "tags"])
keys = st.frozensets(st.sampled_from("abcde"), max_size=3)
limits = st.dictionaries(scopes, keys, max_size=3)


@pytest.mark.night
@given(st.lists(limits, max_size=30), st.dictionaries(scopes, keys))
def test_those_contexts_apply_that_share_an_object_in_each_scope_in_merge_order(
    contexts: list[dict[str, frozenset[str]]], ids: dict[str, frozenset[str]]
) -> None:
    index = ActiveContexts([ScopedContext({}, targets, number, "") for number, targets in enumerate(contexts)])
    assert [context.key for context in index.applicable(ids)] == [
        number
        for number, targets in enumerate(contexts)
        if all(targets[scope] & ids.get(scope, frozenset()) for scope in targets)
    ]
    assert index.scopes == {scope for targets in contexts for scope in targets if targets[scope]}
