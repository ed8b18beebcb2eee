"""The alert rules and the dashboard in `deploy/monitoring` name metrics and labels that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser
import yaml

from tests.support import REPOSITORY

FOLDER = REPOSITORY / "deploy" / "monitoring"
ALERTS, DASHBOARD = FOLDER / "netinv-alerts.yaml", FOLDER / "netinv-dashboard.json"


def documented() -> set[str]:
    """The documented metrics, those that a histogram consists of among them."""
    page = (REPOSITORY / "docs" / "watching.md").read_text()
    rows = re.findall(r"^\| `(netinv_\w+)` \| (\w+) \|", page, re.MULTILINE)
    parts = {f"{name}_{part}" for name, kind in rows if kind == "histogram" for part in ("bucket", "sum", "count")}
    return {name for name, _ in rows} | parts


def expressions() -> Iterator[str]:
    """The queries of the rules and of the panels."""
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        yield from (rule["expr"] for rule in group["rules"])
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


def test_metrics_that_are_queried_exist() -> None:
    queried = {name for text in expressions() for name in re.findall(r"\bnetinv_\w+", text)}
    assert len(queried) > 15
    assert sorted(queried - documented()) == []


def test_every_alert_has_a_severity_and_says_what_to_do() -> None:
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    for rule in group["rules"]:
        assert rule["labels"]["severity"] in ("warning", "critical"), rule["alert"]
        assert rule["annotations"].keys() == {"summary", "description"}, rule["alert"]
    names = [rule["alert"] for rule in group["rules"]]
    assert len(names) == len(set(names))


def test_panels_do_not_overlap_and_have_ids_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    taken: dict[tuple[int, int], Any] = {}
    for panel in panels:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert taken.setdefault((x, y), panel["id"]) == panel["id"] and x < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_query_is_valid_promql() -> None:
    for text in expressions():
        promql_parser.parse(re.sub(r"\$__\w+", "5m", text))  # `$__rate_interval` is a variable of Grafana
