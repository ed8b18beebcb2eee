"""Writes of jobs that are rejected: the job goes on, and nothing of the write is kept."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from netinv_core.auth.account import Identity
from netinv_core.errors import Denied
from netinv_extras.jobs.api_client import Inventory, JobUnitOfWork
from netinv_testing import Service

TENANT = "tenancy.tenant"


def test_an_object_that_is_refused_after_its_row_is_written_is_not_kept(
    service: Service, unique: Callable[[], str]
) -> None:
    kept, refused = unique(), unique()
    permissions = {(TENANT, action): [{"description": "ours"}] for action in ("view", "add")}
    with service.unit_of_work() as uow:
        identity = Identity(uuid.UUID(service.admin.id), service.admin.username, permissions=permissions)
        inventory = Inventory(JobUnitOfWork(uow.registry, uow.session, identity, writing=True))
        inventory.create(TENANT, {"name": kept, "description": "ours"})
        with pytest.raises(Denied):
            inventory.create(TENANT, {"name": refused, "description": "theirs"})
    names = {
        tenant["name"] for tenant in service.api.get("/api/tenancy/tenants/", {"name": [kept, refused]})["results"]
    }
    assert names == {kept}
