"""System pages: versions, packages, migrations, background work and settings, for superusers; and the plugins."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.db.revisions import pending_heads
from netinv_core.errors import Denied
from netinv_core.hookspecs import hookimpl
from netinv_core.http import root_views
from netinv_core.labels import label_of_name
from netinv_core.masking import MASK, credential_name
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_core.tasks import queue as task_queue
from netinv_core.tasks import workers
from netinv_outgoing.urls import split_url
from netinv_web import documentation
from netinv_web.markup import time_markup
from netinv_web.pages import see_other

SYSTEM = "netinv_web:templates/system.jinja2"
PLUGINS = "netinv_web:templates/plugins.jinja2"
FACTS = ("netinv-version", "nautobot-version", "python-version", "database")
# Members of the status that the page shows elsewhere, or that stand for another product.
ELSEWHERE = frozenset({*FACTS, "installed-apps", "plugins", "broken-packages"})


def show(request: Request) -> dict[str, Any]:
    """The page of the system.

    :raises Denied: for users who are no superusers
    """
    _require_superuser(request)
    registry = request.registry.netinv
    status, migrations = root_views.status.view(request), pending_heads(request.registry.netinv_engine, registry)
    return {
        "facts": [(label_of_name(name), status[name]) for name in FACTS if name in status],
        "applications": sorted(status["installed-apps"].items()),
        "plugins": sorted(status["plugins"].items()),
        "broken": registry.broken,
        "migrations": migrations,
        "background": _background(status),
        "queue": masked_url(registry.settings["queue_url"]),
        "queue_length": task_queue.length(registry.settings["queue_url"]) if registry.settings["queue_url"] else None,
        "workers": [_worker(row) for row in workers.workers(request.uow.connection)] if not migrations else [],
        "embedded": registry.settings["embedded_worker"],
        "settings": [(name, shown_setting(name, value)) for name, value in sorted(registry.settings.items())],
    }


def _require_superuser(request: Request) -> None:
    if not request.uow.identity.superuser:
        raise Denied("Only superusers may see this page.")


def _worker(row: Any) -> dict[str, Any]:
    """The row of a worker for the table: its columns, times as markup."""
    return {**row._mapping, "started": time_markup(row.started), "seen": time_markup(row.seen)}


def _background(status: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """Figures of the background work of packages (hook ``netinv_status``), each group with its title."""
    return [
        (label_of_name(name), [(label_of_name(key), _figure(key, value)) for key, value in figures.items()])
        for name, figures in status.items()
        if name not in ELSEWHERE and isinstance(figures, Mapping)
    ]


def _figure(name: str, value: Any) -> Any:
    if value is None:
        return "–"
    return str(datetime.timedelta(seconds=int(value))) if name.endswith("_seconds") else value


def shown_setting(name: str, value: Any) -> str:
    """The text of a setting. Secrets are masked, and passwords within addresses."""
    if value in ("", None, (), [], {}):
        return ""
    if credential_name(name) and not name.endswith("_file") and isinstance(value, str) and name != "token_writers":
        return MASK
    if isinstance(value, str):
        return masked_url(value)
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(masked_url(str(item)) for item in value)
    return str(value)


def masked_url(text: str) -> str:
    """A text with the password masked, if it is an address with one."""
    parts = split_url(text)
    if parts is None:
        return MASK
    if "@" not in parts.netloc:
        return text
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{MASK}@{host}", query=MASK if parts.query else "").geturl()


def show_plugins(request: Request) -> dict[str, Any]:
    """The plugins that are installed; those that could not be started with the reason."""
    return {"plugins": root_views.installed_plugins.view(request)}


def to_system(request: Request) -> Response:
    """``/admin/``, as in Nautobot."""
    return see_other("/system/")


@hookimpl
def netinv_web_menu() -> Sequence[MenuSection]:
    """The section of the interface itself."""
    entries = [
        MenuEntry("System", "/system/", superuser=True),
        MenuEntry("Installed plugins", "/plugins/installed-plugins/"),
        MenuEntry("API", "/api/"),
        MenuEntry("API documentation", "/api/docs/"),
        *([MenuEntry("Documentation", documentation.PATH)] if documentation.is_built() else []),
    ]
    return [MenuSection("System", entries, "cog-6-tooth", 900)]


def includeme(config: Any) -> None:
    """Adds the pages."""
    config.add_netinv_page("/system/", show, SYSTEM)
    config.add_netinv_page("/admin/", to_system)
    config.add_netinv_page("/plugins/installed-plugins/", show_plugins, PLUGINS)
