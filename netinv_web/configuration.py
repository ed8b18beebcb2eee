"""Configuration of the web interface: templates, static files, sign-in, pages, and those of other packages."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import pyramid_jinja2
from jinja2 import StrictUndefined, pass_context
from pyramid.events import ApplicationCreated, BeforeRender

from netinv_core.http.mount import url_of
from netinv_core.labels import label_of, label_of_name, plural_of, title_of
from netinv_core.package_views import include_modules
from netinv_web import cells, extensions, frame, markup, menu, page_size, presentation_checks, shares
from netinv_web.auth import sessions
from netinv_web.forms import controls
from netinv_web.lists import columns, rows
from netinv_web.objects import snippets

if TYPE_CHECKING:
    from netinv_core.registry import Registry

MODULES = (
    "netinv_web.pages",
    "netinv_web.static_files",
    "netinv_web.icons",
    "netinv_web.errors",
)
# Their paths have parameters, so they come after all others: the first route that matches a path has it.
DERIVED = "netinv_web.resource_pages"
_DIRECTIVES = (
    pyramid_jinja2.add_jinja2_renderer,
    pyramid_jinja2.add_jinja2_search_path,
    pyramid_jinja2.add_jinja2_extension,
    pyramid_jinja2.get_jinja2_environment,
)
AFTER_RENDERERS = 1000  # order of an action after those of the renderers (pyramid.config.PHASE3_CONFIG is the last, 20)


def includeme(config: Any) -> None:
    """Adds everything: pages of other packages before those that are derived from resources."""
    registry = config.registry.netinv
    registry.add_pages()
    presentation_checks.check_hooks(registry)
    _templates(config)
    config.add_identity_source(sessions.from_cookie)
    for module in MODULES:
        config.include(module)
    for package, pages in reversed(registry.pages.items()):
        include_modules(config, package, [module for module in pages if hasattr(module, "includeme")])
    for package, names in registry.call_each("netinv_web_includes", registry=registry):
        include_modules(config, package, names)
    config.include(DERIVED)
    config.add_subscriber(presentation_checks.check_paths, ApplicationCreated)
    _check_hooks(registry)


def _check_hooks(registry: Registry) -> None:
    """Calls the hooks that need no request.

    :raises PackageError: when a package fails, or returns something else than the hook specifies
    """
    extensions.check_hooks(registry)
    menu.declared_sections(registry)
    cells.factories_of(registry)
    controls.factories_of(registry)
    for endpoint in registry.endpoints.values():
        columns.presentation_of(endpoint)
    presentation_checks.check(registry)


def _templates(config: Any) -> None:
    """Adds the renderer of templates: undefined names are errors, and everything is escaped."""
    # As pyramid_jinja2.includeme does, which finds this package by reading the sources of all callers.
    for directive in _DIRECTIVES:
        config.add_directive(directive.__name__, directive)
    package = sys.modules[__package__]
    config.add_jinja2_renderer(".jinja2", package=package)
    config.add_jinja2_search_path(f"{package.__name__}:", name=".jinja2")
    config.add_settings({"jinja2.undefined": "strict", "jinja2.trim_blocks": "true", "jinja2.lstrip_blocks": "true"})
    config.action("netinv web templates", _complete_environment, (config,), order=AFTER_RENDERERS)
    config.add_subscriber(_add_frame, BeforeRender)


NUMBER = "{:,}".format  # filter ``number``: a number in groups of thousands


def _shown_text(value: Any) -> str:
    """Filter ``shown``: a stored text without characters that HTML does not allow, or that change its direction."""
    return markup.without_controls(value if isinstance(value, str) else str(value))


def _complete_environment(config: Any) -> None:
    """Adds filters and functions to the environment of the templates, which the renderer's actions have made."""
    environment = config.get_jinja2_environment()
    environment.undefined = StrictUndefined
    page_size.bound_templates(environment, config.registry.netinv)
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.filters |= {
        "cells": rows.cell_elements,
        "label": label_of_name,
        "number": NUMBER,
        "shown": _shown_text,
        "url": _url_of,
    }
    environment.globals |= {
        "icon": config.registry.netinv_icons.icon,
        "label_of": label_of,
        "title_of": title_of,
        "plural_of": plural_of,
        "as_code": snippets.as_code,
        "link": markup.link,
    }
    environment.globals["bar"] = functools.partial(shares.bar, config.registry.netinv)


@pass_context
def _url_of(context: Any, path: Any) -> Any:
    """Filter ``url``. With the context, Jinja2 does not evaluate it for constants when it compiles the template."""
    return url_of(path)


def _add_frame(event: Any) -> None:
    request = event.get("request")
    if request is not None and str(event.get("renderer_name", "")).endswith(".jinja2"):
        event["frame"] = frame.of(request)
