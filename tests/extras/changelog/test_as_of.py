"""Past states of objects: the parameter ``as_of``."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_core.changelog import sequence
from netinv_core.changelog.models import ObjectChange
from netinv_core.models.base import now, table_of
from netinv_core.tasks.retention import delete_old
from netinv_testing import Api, Service, Unique

SITES, REGIONS = "/api/dcim/sites/", "/api/dcim/regions/"
DAY, MOMENT = datetime.timedelta(days=1), datetime.timedelta(microseconds=1)
_change = table_of(ObjectChange)


@pytest.fixture
def site(api: Api, unique: Unique) -> Any:
    """A site in a region, changed twice."""
    region = api.post(REGIONS, {"name": unique()})
    site = api.post(SITES, {"name": unique(), "status": "planned", "region": region["id"], "facility": "a"})
    api.patch(site["url"], {"status": "active", "facility": "b"})
    return api.patch(site["url"], {"facility": "c"})


def times_of(service: Service, item: Any) -> list[datetime.datetime]:
    """The times of the change records of an object, oldest first."""
    of_item = _change.c.changed_object_id == uuid.UUID(item["id"])
    return [row.time for row in service.rows(sa.select(_change.c.time).where(of_item).order_by(_change.c.time))]


def at(api: Api, item: Any, moment: datetime.datetime, status: int = 200, **query: Any) -> Any:
    """The answer to a request for a past state."""
    return api.get(f"{SITES}{item['id']}/", {"as_of": moment.isoformat(), **query}, status=status)


def test_the_state_is_that_between_two_changes(api: Api, service: Service, site: Any) -> None:
    created, first, last = times_of(service, site)
    region = site["region"]["name"]
    api.patch(site["region"]["url"], {"name": f"{region} 2"})
    states = [at(api, site, moment) for moment in (created, first - MOMENT, first, last - MOMENT, last)]
    assert [state["facility"] for state in states] == ["a", "a", "b", "b", "c"]
    assert [state["status"]["value"] for state in states] == ["planned", "planned", "active", "active", "active"]
    assert [state["region"]["name"] for state in states] == [region] * 4 + [f"{region} 2"]
    assert states[-1] == api.get(f"{SITES}{site['id']}/") and states[0].keys() == states[-1].keys()
    at(api, site, created - MOMENT, status=404)
    assert "created later" in at(api, site, created - DAY, status=404)["detail"]


def test_a_deleted_object_has_states_before_its_deletion_for_those_who_may_view_all(
    api: Api, service: Service, site: Any, make_user: Any
) -> None:
    changes = ("view", "extras.objectchange")
    narrow = make_user(changes, ("view", "dcim.site", {"id": site["id"]})).api
    hidden = make_user(changes, ("view", "dcim.site", {"name": "another"})).api
    *_, last = times_of(service, site)
    assert at(narrow, site, last - MOMENT)["facility"] == "b"
    at(hidden, site, last - MOMENT, status=404)
    api.delete(site["url"])
    *_, deleted = times_of(service, site)
    assert at(make_user(changes, ("view", "dcim.site")).api, site, deleted - MOMENT)["facility"] == "c"
    at(narrow, site, deleted - MOMENT, status=404)
    assert "deleted before" in at(api, site, deleted, status=404)["detail"]
    at(api, {"id": str(uuid.uuid4())}, deleted, status=404)


def test_it_takes_the_permission_to_view_the_change(api: Api, service: Service, site: Any, make_user: Any) -> None:
    created, *_ = times_of(service, site)
    at(make_user(("view", "dcim.site")).api, site, created, status=403)
    mine = make_user(("view", "dcim.site"), ("view", "extras.objectchange", {"user_name": "$user"})).api
    at(mine, site, created, status=403)


def test_states_of_which_change_records_were_pruned_are_gone(
    api: Api, service: Service, site: Any, unique: Unique
) -> None:
    unchanged = api.post(SITES, {"name": unique(), "status": "active"})
    long_ago = now() - 4000 * DAY
    both = _change.c.changed_object_id.in_([uuid.UUID(site["id"]), uuid.UUID(unchanged["id"])])
    with service.engine.begin() as connection:
        connection.execute(sa.update(_change).where(both).values(time=long_ago))
        for table in [service.registry["dcim.site"].table]:
            connection.execute(sa.update(table).values(created=long_ago.date()))
            connection.execute(
                sa.update(table).where(table.c.id == uuid.UUID(unchanged["id"])).values(last_updated=long_ago)
            )
    with service.configured(changelog_retention=3650):
        assert delete_old(service.engine, service.registry, sequence.retention) >= 4
    assert at(api, unchanged, long_ago + DAY)["id"] == unchanged["id"]
    assert at(api, unchanged, long_ago + DAY, fields="name") == {"name": unchanged["name"]}
    assert "no longer kept" in at(api, site, long_ago + DAY, status=410)["detail"]
    at(api, {"id": str(uuid.uuid4())}, long_ago + DAY, status=410)


def test_bad_times_are_rejected(api: Api, site: Any) -> None:
    path = f"{SITES}{site['id']}/"
    for text in ("", "yesterday", (now() + DAY).isoformat()):
        assert "as_of" in api.get(path, {"as_of": text}, status=400)
    assert "as_of" in api.get(path, {"as_of": now().isoformat(), "brief": "true"}, status=400)
    assert "as_of" in api.get("/api/users/groups/1/", {"as_of": now().isoformat()}, status=400)
    assert "as_of" in api.get(SITES, {"as_of": now().isoformat()}, status=400)
    assert api.get(f"{path}?as_of={now().isoformat()}", version="1.3")["id"] == site["id"]


def test_it_takes_few_statements(api: Api, service: Service, site: Any) -> None:
    created, *_ = times_of(service, site)
    at(api, site, created)
    with service.statements() as statements:
        at(api, site, created)
    with service.statements() as usual:
        api.get(f"{SITES}{site['id']}/")
    assert len(statements) == len(usual) + 1
