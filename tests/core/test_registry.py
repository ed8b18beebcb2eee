"""The registry: resources are immutable once a service has them, and it is freed with its application."""

from __future__ import annotations

import gc
import weakref

import pytest
from sqlalchemy.engine import Engine

from netinv_core.read.filters import value
from netinv_core.resource import FrozenResourceError
from netinv_testing import Api, Service

TENANTS = "/api/tenancy/tenants/"


def test_a_resource_of_a_running_service_takes_no_more_functions(service: Service, api: Api) -> None:
    tenants = service.registry["tenancy.tenant"].resource
    calls: list[object] = []
    registrations = (
        tenants.prepare,
        tenants.rule,
        tenants.after_save,
        tenants.before_delete,
        tenants.filter("late"),
        tenants.base_filter,
        tenants.permission_check,
    )
    for register in registrations:
        with pytest.raises(FrozenResourceError, match="tenants"):
            register(lambda *arguments: calls.append(arguments))
    tenant = api.post(TENANTS, {"name": service.unique()})
    api.patch(tenant["url"], {"description": "changed"})
    api.get(TENANTS, {"late": "x"}, status=400)
    api.delete(tenant["url"])
    assert calls == []


def test_the_attributes_of_a_resource_of_a_running_service_are_immutable(service: Service) -> None:
    tenants = service.registry["tenancy.tenant"].resource
    with pytest.raises(FrozenResourceError, match="order"):
        tenants.order = ("slug",)
    with pytest.raises(FrozenResourceError, match="filters"):
        tenants.filters += (value("id"),)
    for values in (tenants.example, tenants.record_constants):
        assert not hasattr(values, "__setitem__")


@pytest.mark.night
def test_a_registry_is_freed_with_its_application(engine: Engine) -> None:
    service = Service(engine)
    service.api.get(TENANTS, query={"limit": 1})
    service.anonymous.send("GET", "/tenancy/tenants/", headers={"Accept": "text/html"})
    service.anonymous.get("/health/ready", status=(200, 503))
    registry = weakref.ref(service.registry)
    del service
    gc.collect()
    assert registry() is None
