"""Savepoints of a unit of work: a block that fails leaves no trace, one that succeeds is part of the transaction."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from netinv_core.driver.sessions import commit
from netinv_core.errors import Invalid
from netinv_core.uow import UnitOfWork
from netinv_core.write import save
from netinv_testing import Service

CHANGES = "/api/extras/object-changes/"
TENANTS = "/api/tenancy/tenants/"
Unique = Callable[[], str]


def _make_tenant(uow: UnitOfWork, name: str) -> None:
    save.create(uow, uow.registry["tenancy.tenant"], [{"name": name}])


def _is_there(service: Service, name: str) -> bool:
    return bool(service.api.get(TENANTS, {"name": name})["count"])


def test_a_block_that_fails_after_a_write_is_rolled_back(service: Service, unique: Unique) -> None:
    kept, refused = unique(), unique()
    with service.unit_of_work() as uow:
        _make_tenant(uow, kept)
        with pytest.raises(Invalid), uow.savepoint():
            _make_tenant(uow, refused)
            raise Invalid.whole("A later step of the block fails.")
        commit(uow.session)
    assert (_is_there(service, kept), _is_there(service, refused)) == (True, False)
    assert service.api.get(CHANGES, {"request_id": str(uow.request_id)})["count"] == 1


def test_a_statement_that_the_database_rejects_spares_what_was_written_before(service: Service, unique: Unique) -> None:
    name, table = unique(), service.registry["tenancy.tenant"].table
    with service.unit_of_work() as uow:
        _make_tenant(uow, name)
        with pytest.raises(sa.exc.IntegrityError), uow.savepoint():
            _make_tenant(uow, unique())
            uow.execute(sa.update(table).where(table.c.name == name).values(name=None))
        commit(uow.session)
    assert _is_there(service, name)
    assert service.api.get(CHANGES, {"request_id": str(uow.request_id)})["count"] == 1


def test_a_block_that_succeeds_is_written_and_recorded(service: Service, unique: Unique) -> None:
    name = unique()
    with service.unit_of_work() as uow:
        with uow.savepoint():
            _make_tenant(uow, name)
        commit(uow.session)
    assert _is_there(service, name)
    assert service.api.get(CHANGES, {"request_id": str(uow.request_id)})["count"] == 1


def test_functions_for_after_the_commit_are_dropped_with_their_block(service: Service, unique: Unique) -> None:
    called: list[str] = []
    with service.unit_of_work() as uow:
        _make_tenant(uow, unique())
        uow.after_commit(lambda: called.append("before"))
        with pytest.raises(Invalid), uow.savepoint():
            uow.after_commit(lambda: called.append("within"))
            raise Invalid.whole("refused")
        commit(uow.session)
    assert called == ["before"]


def test_what_a_failed_block_read_is_not_cached(service: Service, unique: Unique) -> None:
    with service.unit_of_work() as uow:
        uow.row_cache["name"] = "before"
        with pytest.raises(Invalid), uow.savepoint():
            uow.row_cache["name"] = "within"
            raise Invalid.whole("refused")
        assert not uow.row_cache
