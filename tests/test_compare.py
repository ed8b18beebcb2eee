"""The tool that compares two services: its files of probes are read, differences found, documented ones left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from compare import parts, report, script
from compare.pair import ABSENT, Difference, Pair, differing
from compare.script import Request
from compare.service import Answer, Service, UnknownLabel

URL = "http://127.0.0.1:9"
KEY = "3d04fb01-6d19-41eb-b294-8d612d3369ad"


def difference(**members: object) -> Difference:
    given = {
        "part": "rules",
        "model": "dcim.sites",
        "title": "t",
        "request": "GET dcim/sites",
        "member": "count",
        "first": 1,
        "second": 2,
    }
    return Difference(**(given | members))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", sorted(script.FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_every_file_of_probes_is_understood(path: Path) -> None:
    scenarios = script.scenarios(path)
    assert all(scenario.requests for scenario in scenarios)
    assert all(
        request.method in ("GET", "POST", "PATCH", "PUT", "DELETE")
        for scenario in scenarios
        for request in scenario.requests
    )


def test_every_label_in_a_file_of_rules_is_created_before_it_is_used() -> None:
    inventory = {request.label for scenario in script.scenarios(parts.INVENTORY) for request in scenario.requests}
    for path in script.FOLDER.glob("rules_*.txt"):
        for scenario in script.scenarios(path):
            service = Service(URL, "key", "1.6")
            service.ids.update(dict.fromkeys(map(str, inventory), KEY))
            for request in scenario.requests:
                service.fill([request.path, request.body])
                service.bind(str(request.label), KEY)


def test_a_line_that_is_no_request_is_named(tmp_path: Path) -> None:
    (tmp_path / "probes.txt").write_text("## dcim.sites: t\n\nPOST dcim/sites {name: a}\nPOTS!\n")
    with pytest.raises(ValueError, match=r"probes.txt, line 4: not a request: POTS!"):
        script.scenarios(tmp_path / "probes.txt")


def test_labels_stand_for_ids_and_ids_for_labels() -> None:
    service = Service(URL, "key", "1.6")
    service.bind("site", KEY)
    assert service.fill({"site": "$site", "path": "dcim/sites/$site"}) == {"site": KEY, "path": f"dcim/sites/{KEY}"}
    assert service.normalise({"id": KEY, "url": f"{URL}/api/dcim/sites/{KEY}/"}) == {
        "id": "$site",
        "url": "/api/dcim/sites/$site/",
    }
    with pytest.raises(UnknownLabel):
        service.fill("$rack")


def test_times_and_the_order_of_dependents_do_not_count() -> None:
    normalise = Service(URL, "key", "1.6").normalise
    assert normalise("2026-01-02T03:04:05.678901Z") == "<time>"
    text = f"Unable to delete object. 2 dependent objects were found: b ({KEY}), a ({KEY})"
    assert normalise(text) == "Unable to delete object. 2 dependent objects were found: a ($id), b ($id)"


def test_members_that_differ_are_named() -> None:
    first, second = {"a": 1, "b": [{"c": 1}], "d": None}, {"a": 1, "b": [{"c": 2}], "e": True}
    assert list(differing(first, second)) == [("b[0].c", 1, 2), ("d", None, ABSENT), ("e", ABSENT, True)]
    assert list(differing(1, True)) == [("", 1, True)]


def test_another_status_is_one_difference_with_the_bodies_of_errors() -> None:
    told: list[Difference] = []
    pair = Pair(Service(URL, "key", "1.6"), Service(URL, "key", "1.6"), told.append)
    pair.note(
        "rules",
        "dcim.sites",
        "t",
        Request("GET", "dcim/sites"),
        Answer(200, {"count": 1}),
        Answer(400, {"name": ["x"]}),
    )
    assert [(one.member, one.first, one.second) for one in told] == [("status", (200, "…"), (400, {"name": ["x"]}))]


def test_documented_differences_are_counted_by_reason(tmp_path: Path) -> None:
    (tmp_path / "allowed.toml").write_text(
        '[[difference]]\nmodel = "dcim.*"\nmember = "*[0].depth"\nreason = "cached"\n'
    )
    allowed = report.read_allowed(tmp_path / "allowed.toml")
    new, known = report.sort(
        [difference(member="a[0].depth"), difference(member="a[1].depth"), difference(model="ipam.vlans")], allowed
    )
    assert [(one.model, one.member) for one in new] == [("dcim.sites", "a[1].depth"), ("ipam.vlans", "count")]
    assert known == {"cached": 1}


def test_each_documented_difference_has_a_reason() -> None:
    assert all(entry.reason for entry in report.read_allowed(report.ALLOWED))
