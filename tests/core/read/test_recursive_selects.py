"""Recursive SELECTs of trees: each has a WITH clause of its own. MariaDB takes about twice the memory for each further
recursive CTE of one WITH clause, 2 GB for 15 of them and all of a machine's for 18.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import netinv_core
from netinv_core.read import name_lookup
from netinv_testing import Api, Service
from netinv_web.testing import Browser

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

DEFINITION = re.compile(r"\b\w+\((\w+, )*\w+\) AS\s*\(\s*SELECT")
# Run on SQLite and PostgreSQL alone, which take no more memory for many.
MAX_ASKED = 10  # parameters of one list: 150 MB if they were in one clause
GROUPS, MEMBERSHIPS, REGIONS = (
    "/api/extras/dynamic-groups/",
    "/api/extras/dynamic-group-memberships/",
    "/api/dcim/regions/",
)
NOT_ON_MARIADB = {"netinv_core/read/indexed_texts.py", "netinv_ipam/levels.py"}


def tree_filters(endpoint: Endpoint) -> list[str]:
    """The parameters of a list that name nodes of a tree, with their lookups."""
    trees = [item for item in endpoint.filters.values() if item.relation is not None and item.relation.tree]
    return [name for item in trees for name in (item.name, f"{item.name}__n")]


def most_together(statements: Sequence[str]) -> int:
    """The most recursive CTEs that one WITH clause of any of the statements has."""
    clauses = [part for statement in statements for part in statement.split("WITH RECURSIVE")[1:]]
    return max((len(DEFINITION.findall(clause)) for clause in clauses), default=0)


@pytest.mark.night
def test_every_recursive_cte_is_part_of_the_select_that_reads_it() -> None:
    root = Path(netinv_core.__file__).parent.parent
    found, others = 0, set()
    for path in [*root.glob("netinv_*/**/*.py"), *root.glob("plugins/*/netinv_*/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cte":
                named = {keyword.arg for keyword in node.keywords}
                found += "recursive" in named
                if "recursive" in named and "nesting" not in named:
                    others.add(str(path.relative_to(root)))
    assert found > len(NOT_ON_MARIADB) and others == NOT_ON_MARIADB


def test_lists_by_nodes_of_many_trees_take_a_clause_for_each(service: Service, api: Api, statements: Any) -> None:
    walked = 0
    for endpoint in service.registry.endpoints.values():
        names = tree_filters(endpoint)[:MAX_ASKED]
        if len(names) < 2:
            continue
        walked += 1
        with statements() as found:
            api.send("GET", endpoint.canonical_path, query={name: f"zz{n}" for n, name in enumerate(names)}, status=400)
        assert most_together(found) == 1, endpoint.label
        assert any(statement.count("WITH RECURSIVE") == len(names) for statement in found), endpoint.label
    assert walked > 10


def test_lists_by_nodes_of_large_trees_take_a_clause_for_each(
    api: Api, make: Any, statements: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_lookup, "MANY_VALUES", 0)
    regions = [make("/api/dcim/regions/")["slug"] for _ in range(4)]
    query = {"region": regions[:2], "region__n": regions[2:3], "region_id__n": api.get(REGIONS)["results"][0]["id"]}
    for path in ("/api/dcim/sites/", "/api/dcim/devices/", "/api/dcim/racks/"):
        with statements() as found:
            api.get(path, query)
        assert most_together(found) == 1
        assert any(statement.count("WITH RECURSIVE") == 3 and "IN (WITH" in statement for statement in found), path


def test_groups_of_nodes_of_many_trees_take_a_clause_for_each(
    api: Api, make: Any, browser: Browser, statements: Any
) -> None:
    """Groups, groups of groups, and the tab of all groups of an object."""
    regions = [make(REGIONS)["slug"] for _ in range(4)]
    site = make("/api/dcim/sites/", status="active", region={"slug": regions[0]})
    groups = [
        make(GROUPS, content_type="dcim.site", filter={"region": [slug], "region__n": [regions[3]]})
        for slug in regions[:3]
    ]
    parent = make(GROUPS, content_type="dcim.site", filter={})
    made = [
        api.post(MEMBERSHIPS, {"parent_group": parent["id"], "group": one["id"], "operator": "union", "weight": weight})
        for weight, one in enumerate(groups)
    ]
    with statements() as found:
        assert [one["id"] for one in api.get(f"{parent['url']}members/")["results"]] == [site["id"]]
    assert most_together(found) == 1 and max(statement.count("WITH RECURSIVE") for statement in found) == 6
    with statements() as found:
        page = browser.get(f"/dcim/sites/{site['id']}/dynamic-groups/").text
    assert all((group["name"] in page) is (group in (groups[0], parent)) for group in [*groups, parent])
    assert most_together(found) == 1
    api.delete(MEMBERSHIPS, [{"id": one["id"]} for one in made])
    api.delete(GROUPS, [{"id": one["id"]} for one in [parent, *groups]])
