"""Every application's two Cornice services, collection and item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cornice import Service
from cornice.pyramidhook import register_service_views

from netinv_core.http import list_formats, views
from netinv_core.http.methods import PERMISSIONS
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.http.standard_parameters import with_write_parameters
from netinv_core.http.traversal import root_of
from netinv_core.write.item_results import ON_ERROR
from netinv_core.write.upsert import MATCH

if TYPE_CHECKING:
    from netinv_core.app import App


def services_of(app: App) -> list[Service]:
    """An application's collection and item services: ``/api/dcim/{model}/`` and ``/api/dcim/{model}/{id}/``."""
    collection = _service(app, "collection", "")
    collection.add_view("GET", views.get_list, permission="view", offers=list_formats.offers)
    collection.add_view("POST", with_write_parameters(views.post, ON_ERROR), permission="add")
    collection.add_view("PUT", with_write_parameters(views.change_list, ON_ERROR, MATCH), permission="change")
    collection.add_view("PATCH", with_write_parameters(views.change_list, ON_ERROR, MATCH), permission="change")
    collection.add_view("DELETE", with_write_parameters(views.delete_list, ON_ERROR), permission="delete")
    collection.add_view("OPTIONS", views.options_list, permission=API_ACCESS)
    item = _service(app, "item", "/{id}")
    item.add_view("GET", views.get_item, permission="view")
    item.add_view("POST", views.not_allowed, permission=PERMISSIONS["POST"])
    item.add_view("PUT", with_write_parameters(views.change_item), permission="change")
    item.add_view("PATCH", with_write_parameters(views.change_item), permission="change")
    item.add_view("DELETE", with_write_parameters(views.delete_item), permission="delete")
    item.add_view("OPTIONS", views.options_item, permission=API_ACCESS)
    return [collection, item]


def _service(app: App, name: str, below: str) -> Service:
    return Service(
        name=f"{app.name}-{name}",
        path=f"{app.path}{{model}}{below}/",
        traverse=f"/{{model}}{below}",
        factory=root_of(app),
        allow=lambda request: request.context.allow(),
        renderer="orjson",
    )


def includeme(config: Any) -> None:
    """Adds the services of every application."""
    for app in config.registry.netinv.apps.values():
        for service in services_of(app):
            register_service_views(config, service)
