"""An object gets a reference while the object it refers to changes: after both have ended, no rule is broken."""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa

from netinv_testing import Service
from netinv_testing.lock_waits import until_it_waits
from netinv_testing.samples import Samples


class Race(NamedTuple):
    """Two requests that must not both succeed: one changes an object, the other lets an object refer to it."""

    change: Callable[[], Any]
    refer: Callable[[], Any]


def lag(new: Callable[..., Any], service: Service) -> Race:
    """A LAG becomes a plain interface; an interface becomes its member."""
    api, port = service.api, new("dcim.interface", type="lag", lag=None, parent_interface=None, bridge=None)
    member = new("dcim.interface", device=port["device"]["id"], type="1000base-t", lag=None, parent_interface=None)
    return Race(
        lambda: api.send("PATCH", port["url"], {"type": "1000base-t"}, status=(200, 400)),
        lambda: api.send("PATCH", member["url"], {"lag": port["id"]}, status=(200, 400)),
    )


def rack(new: Callable[..., Any], service: Service) -> Race:
    """A rack is shrunk; its topmost unit is reserved."""
    api, shrunk = service.api, new("dcim.rack", u_height=42, location=None, group=None)
    user = api.get("/api/users/users/")["results"][0]["id"]
    body = {"rack": shrunk["id"], "units": [42], "user": user, "description": "r"}
    return Race(
        lambda: api.send("PATCH", shrunk["url"], {"u_height": 40}, status=(200, 400)),
        lambda: api.send("POST", "/api/dcim/rack-reservations/", body, status=(201, 400)),
    )


def status(new: Callable[..., Any], service: Service) -> Race:
    """A content type is removed from a status; an object of the type takes the status."""
    api = service.api
    made = api.post("/api/extras/statuses/", {"name": service.unique(), "content_types": ["dcim.site", "dcim.rack"]})
    body = {"name": service.unique(), "status": made["slug"]}
    return Race(
        lambda: api.send("PATCH", made["url"], {"content_types": ["dcim.rack"]}, status=(200, 400)),
        lambda: api.send("POST", "/api/dcim/sites/", body, status=(201, 400)),
    )


@pytest.fixture
def new(service: Service) -> Any:
    """``new(label, …)``: a new object."""
    return lambda label, **members: Samples(service).make(service.registry[label], **members)


@pytest.fixture
def pool() -> Iterator[concurrent.futures.ThreadPoolExecutor]:
    """A thread for the second request."""
    with concurrent.futures.ThreadPoolExecutor(1) as made:
        yield made


ORDERS = ("change first", "reference first")
CASES = list(itertools.product([lag, rack, status], ORDERS))


@pytest.mark.parametrize(("setup", "order"), CASES, ids=lambda part: getattr(part, "__name__", part))
def test_of_a_change_and_a_reference_that_exclude_each_other_one_is_refused(
    service: Service, new: Any, pool: concurrent.futures.ThreadPoolExecutor, setup: Any, order: str
) -> None:
    race, here = setup(new, service), threading.get_ident()
    first, second = race if order == ORDERS[0] else reversed(race)
    started: list[concurrent.futures.Future[Any]] = []

    def before_commit(connection: Any) -> None:
        if threading.get_ident() == here and not started:
            started.append(pool.submit(second))
            until_it_waits(service.engine, started[0])

    sa.event.listen(service.engine, "commit", before_commit)
    try:
        accepted = first()
    finally:
        sa.event.remove(service.engine, "commit", before_commit)
    assert accepted.status_int < 400, accepted.json
    assert [future.result(timeout=60).status_int for future in started] == [400]
