"""A plugin that is one file: a field of tenants, a setting, a page and a command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from netinv_core.app import App
from netinv_core.endpoint import Endpoint
from netinv_core.hookspecs import hookimpl
from netinv_core.http.root_views import root
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, computed


@root("Greeting")
def hello(request: Any) -> Any:
    """A greeting in the language of the settings."""
    return {"greeting": request.uow.registry.settings["greeting"]}


@hookimpl
def netinv_app() -> App:
    return App(
        "greeting",
        "Greeting",
        plugin=True,
        version="1",
        settings={"greeting": (str, "hello")},
        extra_views={"hello": hello},
    )


@hookimpl
def netinv_fields(registry: Registry, endpoint: Endpoint) -> Iterable[FieldFactory]:
    return [computed("greeting", "hello {}".format, "name")] if endpoint.label == "tenancy.tenant" else []


@hookimpl
def netinv_commands() -> dict[str, Iterable[click.Command]]:
    return {"netinv": [click.Command("greet-once", callback=lambda: click.echo("hello"))]}
