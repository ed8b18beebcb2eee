"""Notes, associations and changes that a user sees, compared with the rule in Python: each is visible where the objects
that it is about are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netinv_core.testing import Service

PLAIN = {"dcim.site": "/api/dcim/sites/", "tenancy.tenant": "/api/tenancy/tenants/"}
NOTE, ASSOCIATION, CHANGE = "extras.note", "extras.relationshipassociation", "extras.objectchange"
ABOUT = {
    NOTE: "/api/extras/notes/",
    ASSOCIATION: "/api/extras/relationship-associations/",
    CHANGE: "/api/extras/object-changes/",
}
Name = tuple[str, str]
Grants = dict[str, list[int] | None]  # by label: all objects, or those with these numbers


@dataclasses.dataclass
class World:
    """Objects by label; those that are deleted; and what the objects about others are about."""

    ids: dict[str, list[str]]
    deleted: set[str]
    ends: dict[Name, list[Name]]

    def granted(self, grants: Grants, label: str, key: str) -> bool:
        """True where the permissions of a model themselves allow to view an object."""
        if label not in grants:
            return False
        numbers = grants[label]
        if numbers is None:
            return True
        return key not in self.deleted and key in chosen(self.ids[label], numbers)

    def visible(self, grants: Grants, label: str, key: str, depth: int = 0) -> bool:
        """The rule: an object about others is visible where each of them is; below another one, it must exist."""
        if not self.granted(grants, label, key):
            return False
        if label in PLAIN:
            return True
        if depth > 1 or (depth and (label, key) not in self.ends):
            return False
        return all(self.visible(grants, *end, depth + 1) for end in self.ends[label, key])


def chosen(ids: Sequence[str], numbers: Sequence[int]) -> list[str]:
    """The objects with these numbers."""
    return [ids[number % len(ids)] for number in numbers]


@pytest.fixture(scope="session")
def world(service: Service) -> World:
    """Sites and tenants with notes, notes on notes, associations, and the changes of all; some are deleted."""
    api, word = service.api, service.unique()
    ids: dict[str, list[str]] = {label: [] for label in (*PLAIN, *ABOUT)}
    ends: dict[Name, list[Name]] = {}
    for label, path in PLAIN.items():
        own = {"status": "active"} if label == "dcim.site" else {}
        bodies = [{"name": f"{word} {number}", **own} for number in range(4)]
        ids[label] = [item["id"] for item in api.post(path, bodies)]

    def note(label: str, key: str) -> str:
        body = {"assigned_object_type": label, "assigned_object_id": key, "note": word}
        made: str = api.post(ABOUT[NOTE], body)["id"]
        ids[NOTE].append(made)
        ends[NOTE, made] = [(label, key)]
        return made

    pair = {"source_type": "dcim.site", "destination_type": "tenancy.tenant"}
    relationship = api.post("/api/extras/relationships/", {"name": word, "type": "many-to-many", **pair})["id"]
    for site, tenant in [(0, 0), (0, 1), (1, 2), (3, 3)]:
        keys = (ids["dcim.site"][site], ids["tenancy.tenant"][tenant])
        body = {"relationship": relationship, **pair, "source_id": keys[0], "destination_id": keys[1]}
        made = api.post(ABOUT[ASSOCIATION], body)["id"]
        ids[ASSOCIATION].append(made)
        ends[ASSOCIATION, made] = list(zip(PLAIN, keys, strict=True))
    below = [note(label, key) for label in PLAIN for key in ids[label][:3]]
    below = [note(NOTE, key) for key in below[:4]] + [note(ASSOCIATION, key) for key in ids[ASSOCIATION][:3]]
    note(NOTE, below[0])
    deleted = {ids["dcim.site"][3], ids["tenancy.tenant"][3], ids[NOTE][0]}
    for label, path in [*PLAIN.items(), (NOTE, ABOUT[NOTE])]:
        for key in deleted.intersection(ids[label]):
            api.delete(f"{path}{key}/")
    for label in (*PLAIN, NOTE, ASSOCIATION):
        for key in ids[label]:
            for change in api.get(ABOUT[CHANGE], {"changed_object_id": key, "limit": 0})["results"]:
                ids[CHANGE].append(change["id"])
                ends[CHANGE, change["id"]] = [(change["changed_object_type"], change["changed_object_id"])]
    for label in (NOTE, ASSOCIATION):
        left = api.get(ABOUT[label], [("limit", 0), *(("id", key) for key in ids[label])])["results"]
        gone = set(ids[label]) - {item["id"] for item in left}
        deleted |= gone
        for key in gone:
            del ends[label, key]
    return World(ids, deleted, ends)


GRANTS = st.fixed_dictionaries(
    {},
    optional={
        label: st.none() | st.lists(st.integers(0, 60), min_size=1, max_size=8) if label in PLAIN else st.none()
        for label in (*PLAIN, *ABOUT)
    }
    | {NOTE: st.none() | st.lists(st.integers(0, 60), min_size=1, max_size=12)},
)


@settings(max_examples=25)
@given(grants=GRANTS)
@pytest.mark.night
def test_objects_about_others_are_visible_where_these_are(service: Service, world: World, grants: Grants) -> None:
    permissions: list[Any] = [("view", "users.token")]
    for label, numbers in grants.items():
        limit = [] if numbers is None else [{"id__in": chosen(world.ids[label], numbers)}]
        permissions.append(("view", label, *limit))
    client = service.user(*permissions).api
    for label, path in ABOUT.items():
        listed = client.send(
            "GET", path, query=[("limit", 0), *(("id", key) for key in world.ids[label])], status=(200, 403)
        )
        found = {item["id"] for item in listed.json["results"]} if listed.status_int == 200 else set()
        here = [key for key in world.ids[label] if (label, key) in world.ends]
        expected = {key for key in here if world.visible(grants, label, key)}
        assert found == expected, label
