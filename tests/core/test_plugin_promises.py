"""Parts of the public API that a plugin of one file with tables of its own uses: references in lists with a relation back
and a counter, settings, actions with permissions of their own, services of Cornice.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import Engine

from netinv_admin import migrate
from netinv_core.models.base import Base
from netinv_core.packages import FILE_PREFIX
from netinv_testing import Service
from tests.support.databases import migrated_database

CODE = '''
import colander
import sqlalchemy as sa
from cornice import Service
from cornice.validators import colander_body_validator, colander_querystring_validator
from sqlalchemy.orm import Mapped, mapped_column
from typing import Any

from netinv_core import (
    AUTHENTICATED, App, Name, NotFound, Primary, Resource, Slug, documented, hookimpl, integer, listing, many_to_many, save, to_many,
)
from netinv_tenancy.tenants import Tenant


class Parcel(Primary):
    """Goods of tenants."""

    __tablename__ = "parcels_parcel"

    name: Mapped[Name] = mapped_column(unique=True)
    slug: Mapped[Slug]
    weight: Mapped[int] = integer(0, 100, default=0)
    labels: Mapped[dict[str, Any] | None]

    __table_args__ = (sa.CheckConstraint("weight <> 13", name="parcels_no_thirteen"),)


owners = many_to_many(
    "parcels_parcel_tenant", "parcels_parcel", Tenant.__tablename__, related_name="parcels", count_field="parcel_count"
)
parcels = Resource(Parcel, "parcels", brief=["name"], fields=[to_many("tenants", owners, "tenancy.tenant", default=[])])


@documented("parcels.parcel", status=200)
def weigh(request):
    """Weighs the parcel."""
    uow, endpoint, key = request.uow, request.context.endpoint, request.context.key
    body = {"id": key, "weight": uow.settings["parcel_weight"]}
    (changed,) = save.update(uow, endpoint, [body], partial=True, single=True, permission="weigh")
    return changed


@documented("parcels.parcel", status=200)
def double(request):
    """Makes a parcel of the same weight."""
    uow, endpoint = request.uow, request.context.endpoint
    row = listing.rows_for_change(uow, endpoint, [request.context.key], "double").get(request.context.key)
    if row is None:
        raise NotFound()
    body = {"name": row["name"] + " again", "weight": row["weight"]}
    (created,) = save.create(uow, endpoint, [body], single=True, permission="double")
    return created


class Order(colander.MappingSchema):
    parcel = colander.SchemaNode(colander.String(), validator=colander.Length(1, 20))
    count = colander.SchemaNode(colander.Integer(), validator=colander.Range(1, 9), missing=1)
    day = colander.SchemaNode(colander.Date(), missing=None)

    @colander.instantiate(missing=())
    class parts(colander.SequenceSchema):
        part = colander.SchemaNode(colander.String())


class Query(colander.MappingSchema):
    day = colander.SchemaNode(colander.Date())


orders = Service(
    name="orders", path="/api/plugins/parcels/orders/{number:[0-9]+}/", permission=AUTHENTICATED, description="Orders"
)


@orders.get(schema=Query(), validators=(colander_querystring_validator,))
def read_order(request):
    """Reads an order."""
    return {"number": request.matchdict["number"], "day": request.validated["day"], "by": request.uow.identity.user_id}


@orders.post(schema=Order(), validators=(colander_body_validator,))
@documented({"type": "object", "properties": {"name": {"type": "string"}}}, status=201)
def make_order(request):
    """Orders parcels."""
    order, uow = request.validated, request.uow
    if order["parcel"] == "none":
        request.errors.add("body", "parcel", "There is no such parcel.")
        return None
    if order["parcel"] == "gone":
        request.errors.status = 404
        request.errors.add("body", "parcel", "It is sold out.")
        return None
    name = f"{order['parcel']} {order['count']}"
    save.create(uow, uow.registry["parcels.parcel"], [{"name": name}], single=True)
    if order["count"] == 9:
        request.errors.add("body", "count", "It is too many after all.")
    request.response.status = 201
    return {"name": name}


def includeme(config):
    config.add_cornice_service(orders)
    config.add_netinv_action("parcels/parcels", "weigh", post=weigh, permission="weigh")
    config.add_netinv_action("parcels/parcels", "double", post=double, permission="double")


@hookimpl
def netinv_app():
    return App("parcels", "Parcels", [parcels], plugin=True, includes=[__name__], settings={"parcel_weight": (int, 7)})
'''
PARCELS, TENANTS = "/api/plugins/parcels/parcels/", "/api/tenancy/tenants/"
LABEL = "parcels.parcel"


@pytest.fixture(scope="module")
def parcel_service(tmp_path_factory: pytest.TempPathFactory, database_template: str) -> Iterator[Service]:
    """A service with the plugin, and its tables, on a database of its own."""
    folder = tmp_path_factory.mktemp("parcels")
    (folder / "parcels.py").write_text(CODE)
    others = set(Base.metadata.tables)
    with migrated_database(tmp_path_factory.mktemp("database"), database_template) as engine:
        yield _started(engine, folder, others)
    for name in [name for name in sys.modules if name.startswith(f"{FILE_PREFIX}parcels")]:
        del sys.modules[name]
    for name in set(Base.metadata.tables) - others:
        Base.metadata.remove(Base.metadata.tables[name])


def _started(engine: Engine, folder: Path, others: set[str]) -> Service:
    settings = {"netinv.plugins_dir": str(folder), "netinv.parcel_weight": "9"}
    Service(engine, settings)  # loads the models, which it leaves out as long as they have no tables
    own = [table for table in Base.metadata.sorted_tables if table.name not in others]
    Base.metadata.create_all(engine, own)
    service = Service(engine, settings)
    migrate.seed(engine, service.registry)
    assert service.registry.broken == []
    return service


@pytest.fixture
def parcel(parcel_service: Service) -> Any:
    """A parcel of two tenants."""
    api, name = parcel_service.api, parcel_service.unique()
    tenants = [api.post(TENANTS, {"name": f"{name} {number}"})["id"] for number in range(2)]
    return api.post(PARCELS, {"name": name, "tenants": tenants})


@pytest.mark.night
def test_an_association_gives_its_target_a_relation_and_a_counter(parcel_service: Service, parcel: Any) -> None:
    api = parcel_service.api
    first, second = (tenant["id"] for tenant in parcel["tenants"])
    more = api.post(PARCELS, {"name": parcel_service.unique(), "tenants": [first]})
    shown = api.get(TENANTS, {"id": [first, second]})["results"]
    assert {tenant["id"]: tenant["parcel_count"] for tenant in shown} == {first: 2, second: 1}
    found = api.get(TENANTS, {"id": [first, second], "parcels": more["slug"]})["results"]
    assert [tenant["id"] for tenant in found] == [first]
    without = api.get(TENANTS, {"id": [first, second], "has_parcels": "false"})["results"]
    assert without == []


def test_a_column_of_a_dictionary_takes_json(parcel_service: Service, parcel: Any) -> None:
    for labels in ({"a": [1, {"b": None}]}, [], None):
        assert parcel_service.api.patch(f"{PARCELS}{parcel['id']}/", {"labels": labels})["labels"] == labels


def test_values_that_a_condition_of_the_table_forbids_are_named(parcel_service: Service, parcel: Any) -> None:
    api, path = parcel_service.api, f"{PARCELS}{parcel['id']}/"
    refused = {"non_field_errors": ["The values do not satisfy the condition weight <> 13."]}
    assert api.patch(path, {"weight": 13}, status=400) == refused
    assert api.post(PARCELS, {"name": parcel_service.unique(), "weight": 13}, status=400) == refused
    assert api.get(path)["weight"] == parcel["weight"]


def test_a_setting_of_a_plugin_is_read_with_its_type(parcel_service: Service, parcel: Any) -> None:
    path = f"{PARCELS}{parcel['id']}/weigh/"
    assert parcel_service.api.post(path, status=200)["weight"] == 9


def test_the_permission_of_an_action_suffices_for_what_it_writes(parcel_service: Service, parcel: Any) -> None:
    """Within its constraints, and for nothing else; it is recorded as a change of the user."""
    weigher = parcel_service.user(("view weigh", LABEL))
    path = f"{PARCELS}{parcel['id']}/"
    assert weigher.api.post(f"{path}weigh/", status=200)["weight"] == 9
    changes = parcel_service.api.get("/api/extras/object-changes/", {"changed_object_id": parcel["id"]})["results"]
    assert (changes[0]["action"]["value"], changes[0]["user_name"]) == ("update", weigher.username)
    weigher.api.patch(path, {"weight": 1}, status=403)
    weigher.api.post(f"{path}double/", status=403)
    parcel_service.user(("view change", LABEL)).api.post(f"{path}weigh/", status=403)
    parcel_service.user(("view weigh", LABEL), write_enabled=False).api.post(f"{path}weigh/", status=403)


def test_the_constraints_of_an_actions_permission_hold_before_and_after(parcel_service: Service, parcel: Any) -> None:
    path = f"{PARCELS}{parcel['id']}/"
    parcel_service.user(("view", LABEL), ("weigh", LABEL, {"weight": 3})).api.post(f"{path}weigh/", status=404)
    parcel_service.user(("view", LABEL), ("weigh", LABEL, {"weight": 0})).api.post(f"{path}weigh/", status=403)
    assert parcel_service.api.get(path)["weight"] == 0
    parcel_service.user(("view", LABEL), ("double", LABEL, {"name": parcel["name"]})).api.post(
        f"{path}double/", status=403
    )
    made = parcel_service.user(("view double", LABEL)).api.post(f"{path}double/", status=200)
    assert made["name"] == f"{parcel['name']} again"


ORDERS = "/api/plugins/parcels/orders/7/"


def test_a_service_of_cornice_answers_in_json_as_everything_else(parcel_service: Service) -> None:
    api = parcel_service.api
    found = api.get(ORDERS, {"day": "2030-01-02"})
    assert found == {"number": "7", "day": "2030-01-02", "by": parcel_service.admin.id}
    answer = api.send("DELETE", ORDERS, status=405)
    assert answer.json == {"detail": 'Method "DELETE" not allowed.'}
    assert answer.headers["Allow"] == "GET, POST, HEAD, OPTIONS"
    assert api.options(ORDERS)["description"] == "Orders"
    parcel_service.anonymous.get(ORDERS, {"day": "2030-01-02"}, status=403)
    parcel_service.anonymous.post(ORDERS, {"parcel": "x"}, status=403)
    parcel_service.user(write_enabled=False).api.post(ORDERS, {"parcel": "x"}, status=403)
    api.get("/api/plugins/parcels/orders/seven/", {"day": "2030-01-02"}, status=404)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        ({}, {"parcel": ["Required"]}),
        ({"parcel": "", "count": "x"}, {"parcel": ["Required"], "count": ['"x" is not a number']}),
        ({"parcel": "x" * 21}, {"parcel": ["Longer than maximum length 20"]}),
        ({"parcel": "x", "count": 10}, {"count": ["10 is greater than maximum value 9"]}),
        ({"parcel": "x", "day": "noon"}, {"day": ["Invalid date"]}),
        ({"parcel": "x", "parts": ["a", {"b": 1}, []]}, None),
        ({"parcel": "none"}, {"parcel": ["There is no such parcel."]}),
        ([1], None),
        (b"{", None),
        (b"\xff", None),
        (b'"a"', None),
        (b"null", None),
    ],
)
def test_errors_of_a_service_are_in_the_form_of_the_api(parcel_service: Service, body: Any, errors: Any) -> None:
    answer = parcel_service.api.post(ORDERS, body, status=400)
    assert errors is None or answer == errors
    assert answer.keys() & {"detail", "non_field_errors", "parcel", "parts.1", "day", "count"}


def test_an_error_of_a_service_has_the_status_that_its_view_sets_and_nothing_is_written(
    parcel_service: Service,
) -> None:
    api, name = parcel_service.api, parcel_service.unique()
    assert api.post(ORDERS, {"parcel": "gone"}, status=404) == {"detail": "It is sold out."}
    assert api.post(ORDERS, {"parcel": name}) == {"name": f"{name} 1"}
    api.post(ORDERS, {"parcel": name, "count": 9}, status=400)
    found = api.get(PARCELS, {"name__isw": name})["results"]
    assert [parcel["name"] for parcel in found] == [f"{name} 1"]
    assert "day" in api.get(ORDERS, {"day": ["2030-01-02", "2030-01-03"]}, status=400)
    assert "day" in api.get(ORDERS, status=400)


def test_a_service_is_in_the_openapi_document_with_its_schemas(parcel_service: Service) -> None:
    path = parcel_service.api.get("/api/docs/", {"format": "openapi"})["paths"]["/plugins/parcels/orders/{number}/"]
    assert path.keys() == {"get", "post"}
    body = path["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body == {
        "type": "object",
        "properties": {
            "parcel": {"type": "string", "minLength": 1, "maxLength": 20},
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "day": {"type": "string", "format": "date", "nullable": True},
            "parts": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["parcel"],
    }
    assert "201" in path["post"]["responses"] and path["post"]["summary"] == "Orders parcels."
    assert path["get"]["tags"] == ["plugins/parcels"]
    assert [item["name"] for item in path["get"]["parameters"]] == ["number", "api_version", "day"]
