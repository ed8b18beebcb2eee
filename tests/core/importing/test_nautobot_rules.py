"""Imports of the rules of Nautobot's data validation: they refuse here what they refuse there."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from netinv_testing import Api, Unique
from tests.support.inventory_service import InventoryService, serving

RULES, SITES, LISTS = "/api/extras/validation-rules/", "/api/dcim/sites/", "plugins/nautobot-data-validation-engine"
Rule = dict[str, Any]
# Rules of sites: the list, the field and further members; the condition here; values that pass, and that are refused, as
# Nautobot 1.6 with the version 2.2.0 of the plugin answers.
CASES: dict[str, tuple[str, str, Rule, Rule, list[Any], list[Any]]] = {
    "patterns match from the beginning": (
        "regex-rules", "facility", {"regular_expression": "b"}, {"facility__re": "^(?:b)"}, ["bcd", "b"], ["abc", "B", "", "x b"],
    ),
    "anchored patterns stay": (
        "regex-rules", "facility", {"regular_expression": "^b$"}, {"facility__re": "^b$"}, ["b"], ["bc", ""],
    ),
    "alternatives are one pattern": (
        "regex-rules", "facility", {"regular_expression": "^a|b"}, {"facility__re": "^(?:^a|b)"}, ["a", "bc"], ["xb", ""],
    ),
    "case is ignored by a flag": (
        "regex-rules", "facility", {"regular_expression": "(?i)b"}, {"facility__ire": "^(?:b)"}, ["Bx", "b"], ["ab"],
    ),
    "bounds": (
        "min-max-rules", "asn", {"min": 100.0, "max": 4200.5}, {"asn__gte": 100, "asn__lte": 4200}, [100, 4200], [99, 4201, None],
    ),
    "a bound": ("min-max-rules", "latitude", {"min": None, "max": 10.5}, {"latitude__lte": 10.5}, ["10.5"], ["10.6", None]),
    "required text": ("required-rules", "facility", {}, {"facility__n": ""}, ["x"], [""]),
    "required number": ("required-rules", "asn", {}, {"asn__isnull": False}, [7], [None]),
}  # fmt: skip


def rule_of(name: str, field: str, label: str = "dcim.site", **members: Any) -> Rule:
    """A rule as the API of the plugin shows it."""
    key = str(uuid.uuid4())
    common = {"slug": name.lower(), "content_type": label, "enabled": True, "error_message": None}
    return {"id": key, "display": name, "name": name, "field": field, **common, "custom_fields": {}, **members}


@pytest.fixture
def rules(api: Api, unique: Unique) -> Iterator[str]:
    """The beginning of the names of rules, which are deleted after the test."""
    word = unique()
    yield word
    for rule in api.get(RULES, {"name__isw": word})["results"]:
        api.send("DELETE", rule["url"])


@pytest.fixture
def imported(api: Api, command: Any, tmp_path: Path) -> Any:
    """``imported(lists)``: what the import of a service with these lists of rules says."""

    def run(lists: dict[str, list[Rule]]) -> str:
        paths = {f"{LISTS}/{name}": rows for name, rows in lists.items()}
        with serving(InventoryService("nautobot", "1.6.32", {"dcim/sites": [], **paths})) as service:
            return str(command("nautobot", service.url, "--state", str(tmp_path / "state")).output)

    return run


@pytest.mark.parametrize("case", CASES)
def test_a_rule_refuses_what_it_refused_there(api: Api, imported: Any, rules: str, unique: Unique, case: str) -> None:
    kind, field, members, condition, passing, refused = CASES[case]
    report = imported({kind: [rule_of(rules, field, error_message="Not so.", **members)]})
    (rule,) = api.get(RULES, {"name": rules})["results"]
    assert rule["requires"] == condition, report
    for value in passing:
        api.post(SITES, {"name": unique(), "status": "active", field: value})
    for value in refused:
        answer = api.post(SITES, {"name": unique(), "status": "active", field: value}, status=400)
        assert answer == {field: [f"Not so. (validation rule “{rules}”)"]}


def test_what_is_unique_may_be_blank_and_more_than_one_is_left_out(
    api: Api, imported: Any, rules: str, unique: Unique
) -> None:
    few = rule_of(f"{rules} few", "contact_name", max_instances=2)
    report = imported({"unique-rules": [rule_of(rules, "physical_address", max_instances=1), few]})
    assert "more than one object may have a value" in " ".join(report.split())
    (rule,) = api.get(RULES, {"name__isw": rules})["results"]
    assert (rule["name"], rule["unique_together"], rule["requires"]) == (rules, ["physical_address"], None)
    address = unique()
    for value in (address, "", ""):
        api.post(SITES, {"name": unique(), "status": "active", "physical_address": value})
    body = {"name": unique(), "status": "active", "physical_address": address}
    assert list(api.post(SITES, body, status=400)) == ["physical_address"]


def test_rules_without_a_counterpart_say_why_and_names_are_told_apart(api: Api, imported: Any, rules: str) -> None:
    lists = {
        "regex-rules": [
            rule_of(rules, "facility", regular_expression=".", enabled=False, error_message="x" * 300),
            rule_of(f"{rules} t", "facility", regular_expression="{{ object.name }}", context_processing=True),
            rule_of(f"{rules} m", "name", "other.model", regular_expression="."),
            rule_of(f"{rules} f", "nowhere", regular_expression="."),
        ],
        "required-rules": [
            rule_of(rules, "facility", enabled=False),
            rule_of(f"{rules} s", "serial", "dcim.rack", enabled=False),
        ],
        "data-compliance": [{"id": str(uuid.uuid4()), "display": "x"}],
    }
    for _ in range(2):  # the second run changes nothing
        report = " ".join(imported(lists).split())
        for reason in (
            "its pattern is a template",
            "its content type has no model here",
            "its content type has no such field here",
            "results of checks are not imported",
        ):
            assert reason in report
        found = {rule["name"]: rule for rule in api.get(RULES, {"name__isw": rules})["results"]}
        assert found.keys() == {rules, f"{rules} (required)", f"{rules} s"}
        assert found[f"{rules} s"]["requires"] == {"serial__regex": "."}  # the list has no filter of these
        assert not any(rule["enabled"] for rule in found.values())
        assert found[rules]["message"] == "x" * 199 + "…"


def test_rules_are_read_from_a_dump_with_numbers_of_content_types(
    api: Api, command: Any, rules: str, tmp_path: Path
) -> None:
    key, path = str(uuid.uuid4()), tmp_path / "dump.json"
    fields = {
        "name": rules,
        "slug": rules,
        "content_type": 3,
        "enabled": False,
        "error_message": "",
        "field": "facility",
    }
    label = "nautobot_data_validation_engine.requiredvalidationrule"
    items = [
        {"model": "contenttypes.contenttype", "pk": 3, "fields": {"app_label": "dcim", "model": "site"}},
        {"model": label, "pk": key, "fields": {**fields, "created": "2026-01-01", "_custom_field_data": {}}},
    ]
    path.write_text(json.dumps(items))
    report = command("nautobot", str(path)).output
    (rule,) = api.get(RULES, {"name": rules})["results"]
    assert (rule["id"], rule["content_type"], rule["requires"]) == (key, "dcim.site", {"facility__n": ""}), report
