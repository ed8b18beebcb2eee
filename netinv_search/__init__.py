"""The search over all resources, at ``/api/search/``; packages contribute recognisers by the hook ``netinv_search``."""

from __future__ import annotations

from netinv_core.app import App
from netinv_core.hookspecs import hookimpl
from netinv_search.views import search_everything

app = App(
    "search",
    "Search",
    includes=["netinv_search.views"],
    root_views={"search": search_everything},
    rooted=False,
    distribution="netinv-search",
)


@hookimpl
def netinv_app() -> App:
    """Returns the application."""
    return app
