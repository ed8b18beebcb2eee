"""Tools that propose: what they write is in change requests only."""

from __future__ import annotations

from typing import Any

import pytest

from netinv_testing import Service, Unique
from tests.support.agents import Agent

pytestmark = [pytest.mark.directory, pytest.mark.any_database]
REQUESTS = "/api/extras/change-requests/"


def site(name: str, **fields: Any) -> dict[str, Any]:
    return {"dcim.site": [{"name": name, "slug": name, "status": "active", **fields}]}


def test_a_document_is_added_to_an_open_change_request(agent: Agent, agent_service: Service, unique: Unique) -> None:
    first, second = unique(), unique()
    made = agent.call("propose_changes", title=first, description="Why", objects=site(first))
    key = made["change_request"]["id"]
    again = agent.call("propose_changes", change_request=key, objects=site(second))
    assert again["change_request"] == {**made["change_request"], "creates": 2}
    changed = agent.call("propose_changes", change_request=key, objects=site(second, facility="Hall 2"))
    assert changed["change_request"]["creates"] == 2
    gone = agent.call("propose_changes", change_request=key, objects=site(first, absent=True))
    assert [change["display"] for change in gone["changes"]] == [second]
    assert agent_service.api.get("/api/dcim/sites/", {"name": [first, second]})["count"] == 0


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"objects": {"dcim.site": [{"name": "x", "status": "nothing"}]}, "title": "t"}, "objects"),
        ({"objects": {"dcim.nothing": [{"name": "x"}]}, "title": "t"}, "objects"),
        ({"objects": {"extras.job": [{"name": "x", "slug": "x"}]}, "title": "t"}, "objects"),  # the API makes none
        ({"objects": {"extras.status": [{"name": "x", "slug": "x"}]}, "title": "t"}, "change_request"),
        ({"objects": {"dcim.site": []}, "title": "t"}, "objects"),
        ({"objects": {}, "title": "t"}, "objects"),
        ({"objects": {"dcim.site": [{"name": "x", "status": "active"}]}}, "title"),
        ({"objects": {"dcim.site": [{"name": "x", "status": "active"}]}, "change_request": "x"}, "change_request"),
        ({"title": "t"}, "objects"),
        ({"title": "t", "objects": {"dcim.site": [{"name": "x"}] * 1001}}, "objects.dcim.site"),
        ({"title": "t", "objects": {"dcim.site": {"name": "x"}}}, "objects.dcim.site"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_refused_document_proposes_nothing(
    agent: Agent, agent_service: Service, arguments: dict[str, Any], named: str
) -> None:
    before = agent_service.row_counts()
    refusal = agent.refusal("propose_changes", **arguments)
    assert named in refusal.get("error", refusal)
    assert agent_service.row_counts() == before


def test_a_title_belongs_to_a_new_change_request(agent: Agent, unique: Unique) -> None:
    key = agent.call("propose_changes", title=unique(), objects=site(unique()))["change_request"]["id"]
    refusal = agent.refusal("propose_changes", title=unique(), change_request=key, objects=site(unique()))
    assert "title" in refusal["error"]


def test_conflicts_are_told(agent: Agent, agent_service: Service, unique: Unique) -> None:
    name = unique()
    key = agent.call("propose_changes", title=name, objects=site(name))["change_request"]["id"]
    agent_service.api.post("/api/dcim/sites/", site(name)["dcim.site"][0])
    validated = agent.call("validate_change_request", change_request=key)
    assert validated["conflicts"]["count"] == 1
    assert validated["merge"]["status"] == 409


def test_a_closed_change_request_takes_nothing(agent: Agent, agent_service: Service, unique: Unique) -> None:
    key = agent.call("propose_changes", title=unique(), objects=site(unique()))["change_request"]["id"]
    agent_service.api.post(f"{REQUESTS}{key}/close/", {}, status=200)
    assert agent.refusal("propose_changes", change_request=key, objects=site(unique()))["status"] == 409
    assert agent.refusal("submit_change_request", change_request=key)["status"] == 409
    assert agent.call("comment", change_request=key, text="Too late")["events"][-1]["text"] == "Too late"


def test_a_token_that_only_reads_proposes_nothing(agent_service: Service, unique: Unique) -> None:
    reader = Agent(agent_service.user(superuser=True, write_enabled=False))
    assert reader.refusal("propose_changes", title=unique(), objects=site(unique()))["status"] == 403


def test_no_tool_changes_the_inventory(agent: Agent, agent_service: Service, unique: Unique) -> None:
    """Only change requests, their steps and proposals, and their records in the change log have more rows afterwards."""
    name, before = unique(), agent_service.row_counts()
    key = agent.call("propose_changes", title=name, objects=site(name))["change_request"]["id"]
    agent.call("validate_change_request", change_request=key)
    agent.call("submit_change_request", change_request=key, text="Please look")
    after = agent_service.row_counts()
    changed = {table for table in after if after[table] != before[table]}
    of_requests = {"extras_change_request", "extras_change_request_event", "extras_proposal"}
    assert changed == {"core_object_change", *of_requests}


def test_statements_of_a_proposal_do_not_depend_on_the_number_of_objects(
    agent: Agent, agent_service: Service, unique: Unique
) -> None:
    counts = []
    for number in (2, 20):
        objects = {"dcim.site": [{"name": unique(), "status": "active"} for _ in range(number)]}
        with agent_service.statements() as found:
            agent.call("propose_changes", title=unique(), objects=objects)
        counts.append(len(found))
    assert counts[0] == counts[1]


def test_prompts_name_what_they_need(agent: Agent) -> None:
    prompts = {prompt["name"]: prompt for prompt in agent.result("prompts/list")["prompts"]}
    assert prompts.keys() == {"turn_up_site", "renumber_prefix", "cable_cut"}
    assert [argument["name"] for argument in prompts["renumber_prefix"]["arguments"]] == ["old", "new"]
    filled = agent.result("prompts/get", name="cable_cut", arguments={"cable": "{site} " + "x" * 5000})
    text = filled["messages"][0]["content"]["text"]
    assert "{site} xxx" in text and len(text) < 2500
    for arguments in ({}, {"cable": "a", "other": "b"}):
        assert agent.error("prompts/get", name="cable_cut", arguments=arguments)["code"] == -32602
    assert "nothing" in agent.error("prompts/get", name="nothing", arguments={})["message"]


def test_a_comment_names_the_field_that_it_is_about(agent: Agent, unique: Unique) -> None:
    name = unique()
    key = agent.call("propose_changes", title=name, objects=site(name))["change_request"]["id"]
    (change,) = agent.call("list_objects", model="dcim.site", change_request=key, filters={"name": name})["results"]
    about = {"object_type": "dcim.site", "object_id": change["id"], "field": "name"}
    event = agent.call("comment", change_request=key, text="Why?", **about)["events"][-1]
    assert {name: event["about"][name] for name in about} == about
    assert (
        "field" in agent.refusal("comment", change_request=key, text="Why?", **{**about, "field": "nothing"})["error"]
    )
