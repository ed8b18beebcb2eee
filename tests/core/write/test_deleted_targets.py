"""Objects that are deleted between the look-up of a reference and the write: the answer is that of a reference that fits
nothing.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from netinv_testing import Api, Service, Unique

SITES, TENANTS, TAGS = "/api/dcim/sites/", "/api/tenancy/tenants/", "/api/extras/tags/"
LARGE = "x" * (1 << 20)  # a request with this body is not run again
Deleted = Callable[[str, dict[str, Any], str], Any]


@pytest.fixture
def deleted_before(service: Service) -> Deleted:
    """Deletes an object just before a statement with this part; on SQLite, where writers take turns, at once."""

    @contextlib.contextmanager
    def deleting(label: str, item: dict[str, Any], part: str) -> Iterator[None]:
        table = service.registry[label].table
        statement = sa.delete(table).where(table.c.id == uuid.UUID(item["id"]))

        def delete(*event: Any) -> None:
            if event and part not in event[2]:
                return
            with service.engine.begin() as connection:
                connection.execute(statement)

        if service.engine.dialect.name == "sqlite":
            delete()
            yield
            return
        sa.event.listen(service.engine, "before_cursor_execute", delete)
        try:
            yield
        finally:
            sa.event.remove(service.engine, "before_cursor_execute", delete)

    return deleting


def no_such(item: dict[str, Any]) -> str:
    """The message about an object that does not exist."""
    return f"Related object not found using the provided ID: {item['id']}"


@pytest.mark.parametrize("comments", ["", LARGE], ids=["run again", "not run again"])
def test_a_new_object_refers_to_none_that_is_deleted(
    api: Api, unique: Unique, deleted_before: Deleted, comments: str
) -> None:
    for is_list in (False, True):
        gone, kept = (api.post(TENANTS, {"name": unique()}) for _ in range(2))
        items = [{"name": unique(), "status": "active", "tenant": t["id"], "comments": comments} for t in (kept, gone)]
        with deleted_before("tenancy.tenant", gone, "INSERT INTO dcim_site"):
            answer = api.post(SITES, items if is_list else items[1], status=400)
        error = {"tenant": [no_such(gone)]}
        assert answer == ([{}, error] if is_list else error)


@pytest.mark.parametrize("comments", ["", LARGE], ids=["run again", "not run again"])
def test_a_changed_object_refers_to_none_that_is_deleted(
    api: Api, unique: Unique, deleted_before: Deleted, comments: str
) -> None:
    site, gone = api.post(SITES, {"name": unique(), "status": "active"}), api.post(TENANTS, {"name": unique()})
    with deleted_before("tenancy.tenant", gone, "UPDATE dcim_site"):
        answer = api.patch(site["url"], {"tenant": gone["id"], "comments": comments}, status=400)
    assert answer == {"tenant": [no_such(gone)]}


@pytest.mark.parametrize("comments", ["", LARGE], ids=["run again", "not run again"])
def test_a_list_names_no_object_that_is_deleted(
    api: Api, unique: Unique, deleted_before: Deleted, comments: str
) -> None:
    site = api.post(SITES, {"name": unique(), "status": "active"})
    kept, gone = (
        api.post(TAGS, {"name": unique(), "slug": unique(), "content_types": ["dcim.site"]}) for _ in range(2)
    )
    with deleted_before("extras.tag", gone, "INSERT INTO extras_tagged"):
        answer = api.patch(site["url"], {"tags": [kept["id"], gone["id"]], "comments": comments}, status=400)
    assert no_such(gone) in str(answer["tags"]) and list(answer) == ["tags"]
