"""What the recorded form of a webhook has no room for, below it: whether it is enabled (``enabled/``), and how often it is tried (``retries/``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import colander
import sqlalchemy as sa
from pyramid.request import Request
from pyramid.response import Response

from netinv_core import changes
from netinv_core.auth import permits
from netinv_core.auth.identity import configuration_changed
from netinv_core.errors import FieldErrors, Invalid, NotFound
from netinv_core.fields import errors_of
from netinv_core.http import services
from netinv_core.http.answers import body_of
from netinv_core.http.opening import Opened
from netinv_core.model import known, table_of
from netinv_core.read import pages
from netinv_core.registry import Endpoint
from netinv_core.write import schema
from netinv_extras.webhooks import Webhook

METHODS = ("GET", "PUT", "PATCH")
POLICIES = {"enabled": ("enabled",), "retries": ("retries", "retry_after")}
_table = table_of(Webhook)
_nodes = {
    name: schema.node(name, _table.c[name].type.python_type, known(_table.c[name]), length=None, digits=None) for names in POLICIES.values() for name in names
}


def _shape(names: Sequence[str]) -> dict[str, Any]:
    properties = {}
    for name in names:
        what = known(_table.c[name])
        bounds = {bound: value for bound, value in (("minimum", what.minimum), ("maximum", what.maximum)) if value is not None}
        properties[name] = {"type": "boolean" if _table.c[name].type.python_type is bool else "integer", **bounds}
    return {"type": "object", "properties": properties}


def _views(names: Sequence[str]) -> dict[str, services.View]:
    """The views of a policy: to read it, to set it, to set a part of it."""

    @services.shaped(_shape(names))
    def show(request: Request) -> Response:
        """What is set of a webhook."""
        context, endpoint = services.open_item(request, METHODS)
        row = pages.rows(context, endpoint, [request.context.key], "view").get(request.context.key)
        if row is None:
            raise NotFound()
        return services.answer(context, request, {name: row[name] for name in names})

    @services.shaped(_shape(names), takes=_shape(names))
    def put(request: Request) -> Response:
        """Sets it, recorded as a change of the webhook."""
        return _set(request, names)

    @services.shaped(_shape(names), takes=_shape(names))
    def patch(request: Request) -> Response:
        """Sets a part of it, recorded as a change of the webhook."""
        return _set(request, names)

    return {"get": show, "put": put, "patch": patch}


def _set(request: Request, names: Sequence[str]) -> Response:
    context, endpoint = services.open_item(request, METHODS)
    wanted = _parsed(body_of(request), names, partial=request.method == "PATCH")
    row = pages.rows_for_change(context, endpoint, [request.context.key], "change").get(request.context.key)
    if row is None:
        raise NotFound()
    if any(row[name] != value for name, value in wanted.items()):
        _change(context, endpoint, row, wanted, names)
    return services.answer(context, request, {name: wanted.get(name, row[name]) for name in names})


def _parsed(body: Any, names: Sequence[str], *, partial: bool) -> dict[str, Any]:
    """The values of a body.

    :raises Invalid: naming what is missing or wrong
    """
    if not isinstance(body, Mapping):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}.")
    found: dict[str, Any] = {}
    errors: FieldErrors = {}
    for name in names:
        try:
            if name in body:
                found[name] = schema.parse(_nodes[name], _given(body[name]))
            elif not partial:
                errors[name] = [schema.REQUIRED]
        except colander.Invalid as error:
            errors[name] = errors_of(error)
    if errors:
        raise Invalid(errors)
    return found


def _given(value: Any) -> Any:
    if value is None:
        raise colander.Invalid(None, schema.NOT_NULL)
    return value


def _change(context: Opened, endpoint: Endpoint, row: Mapping[str, Any], wanted: Mapping[str, Any], names: Sequence[str]) -> None:
    """Writes what is wanted, and records it: before and after with the values that representations do not show."""
    key, plan = row["id"], endpoint.plan()
    new = {**row, **wanted, "last_updated": context.now}
    before = dict(plan.fetch(context, [key]))[key] | {name: row[name] for name in names}
    context.write(sa.update(_table).where(_table.c.id == key).values(**wanted, last_updated=context.now))
    permits.verify(context, endpoint, "change", [key])
    shown = dict(plan.fetch(context, [key]))[key]
    after = shown | {name: new[name] for name in names}
    flat = changes.flat(context, endpoint, new, shown) | {name: new[name] for name in names}
    context.journal.add(changes.Change(endpoint, key, changes.UPDATE, before, after, flat))
    configuration_changed(context)
    context.journal.write(context)


def includeme(config: Any) -> None:
    """Adds the routes."""
    actions = services.Actions(config.registry.netinv.apps["extras"])
    for policy, names in POLICIES.items():
        actions.item("webhooks", policy, **_views(names))
    for service in actions.services:
        config.add_cornice_service(service)
