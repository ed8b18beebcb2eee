"""GraphQL queries of any shape end within their bounds: with an answer, or refused with the reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from netinv_testing import Service

GRAPHQL = "/api/graphql/"
LEADS = {
    "Query": {"sites": "Site", "devices": "Device", "tenants": "Tenant", "interfaces": "Interface"},
    "Site": {"region": "Region", "devices": "Device", "tenant": "Tenant", "status": "Status", "tags": "Tag"},
    "Device": {"site": "Site", "interfaces": "Interface", "tenant": "Tenant", "status": "Status", "tags": "Tag"},
    "Interface": {"device": "Device", "lag": "Interface", "status": "Status"},
    "Tenant": {"sites": "Site", "devices": "Device"},
    "Region": {"sites": "Site", "parent": "Region"},
    "Status": {},
    "Tag": {},
}
ARGUMENTS = (
    "limit: 1",
    "limit: 0",
    "offset: 2",
    'name: "a"',
    "name__ic: [1]",
    "zz: null",
    "limit: -1",
    "id: $v",
    'q: "%"',
)


@st.composite
def selections(draw: st.DrawFn) -> str:
    """A selection that fits the schema, but for some wrong members and arguments."""
    left = draw(st.integers(1, 25))

    def selected(kind: str, depth: int) -> str:
        nonlocal left
        members = (
            ["__typename"]
            if kind == "Query"
            else draw(st.sampled_from([["name"], ["id"], ["id", "display"], ["n: id", "...F"]]))
        )
        for name in (
            draw(st.lists(st.sampled_from(sorted(LEADS[kind])), max_size=3)) if LEADS[kind] and depth < 14 else ()
        ):
            if left > 0:
                left -= 1
                wrong = draw(st.integers(0, 19))
                arguments = f"({draw(st.sampled_from(ARGUMENTS))})" if wrong < 3 else ""
                alias = f"a{left}: " if draw(st.booleans()) else ""
                members.append(
                    f"{alias}{'zz' if wrong == 19 else name}{arguments} {selected(LEADS[kind][name], depth + 1)}"
                )
        return f"{{ {' '.join(members)} }}"

    return selected("Query", 0).replace(
        "...F", draw(st.sampled_from(["...F", "id", "id", "id", "... @skip(if: true) { id }"]))
    )


FRAGMENTS = (
    "fragment F on SiteType { name region { sites { ...F } } }",
    "fragment F on SiteType { name }",
    "query B { id }",
    "",
)


@settings(max_examples=80)
@given(selections(), st.sampled_from(FRAGMENTS))
@example("{ " + "devices { site { " * 40 + "name" + " } }" * 40 + " }", "")
@example("{ " + " ".join(f"a{n}: devices {{ name }}" for n in range(600)) + " }", "")
@example("{" * 5000, "")
@example("[" * 5000, "")
@pytest.mark.night
def test_a_query_of_any_shape_is_answered(service: Service, selection: str, fragment: str) -> None:
    head = "query ($v: ID) " if "$v" in selection else ""
    check(service, f"{head}{selection} {fragment if '...F' in selection else ''}")


TOKENS = (
    "{",
    "}",
    "(",
    ")",
    "query",
    "fragment",
    "on",
    "...",
    "$v",
    ":",
    "!",
    "[",
    "]",
    "@include",
    '"',
    '"""',
    "\\",
    "sites",
    "name",
    "#",
    "\ufeff",
    "1e999",
    "null",
    "&",
    "é",
)


@settings(max_examples=80)
@given(
    st.lists(st.sampled_from(TOKENS), max_size=30).map(" ".join),
    st.one_of(st.none(), st.dictionaries(st.sampled_from("vw"), st.integers(), max_size=2)),
)
def test_a_query_that_is_none_is_refused(service: Service, text: str, variables: dict[str, Any] | None) -> None:
    check(service, text, variables)


def check(service: Service, query: str, variables: dict[str, Any] | None = None) -> None:
    """Sends a query; it has data, or errors with messages."""
    answer = service.api.send("POST", GRAPHQL, {"query": query, "variables": variables}, status=(200, 400))
    event(f"{answer.status_int}{' with errors' if answer.status_int == 200 and 'errors' in answer.json else ''}")
    shown = answer.json
    assert set(shown) <= {"data", "errors"} and (answer.status_int == 400 or "data" in shown)
    assert all(isinstance(error["message"], str) and error["message"] for error in shown.get("errors", ()))
