"""Feature ``graphql``: queries over the models of all packages, and saved ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from netinv_core.app import Feature
from netinv_core.hookspecs import hookimpl
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_extras.graphql import views
from netinv_extras.graphql.saved_queries import graphql_queries

if TYPE_CHECKING:
    from netinv_core.registry import Registry

feature = Feature(
    "graphql",
    "GraphQL",
    [graphql_queries],
    root_views={"graphql": views.graphql},
    includes=["netinv_extras.graphql.views"],
    settings={
        "graphql_max_depth": (int, 12),
        "graphql_max_relations": (int, 100),
        "graphql_max_objects": (int, 100_000),
    },
    menu=[MenuSection("Customization", ["graphql-queries"], icon="adjustments-horizontal", position=716)],
)


@hookimpl
def netinv_web_includes(registry: Registry) -> Iterable[str]:
    """The page for queries."""
    return ["netinv_extras.graphql.web.page"]


@hookimpl
def netinv_web_menu(registry: Registry) -> Iterable[MenuSection]:
    """The page for queries."""
    return [MenuSection("System", [MenuEntry("GraphQL", "/graphql/")], "cog-6-tooth", 900)]


@hookimpl
def netinv_web_snippets(registry: Registry) -> Iterable[Any]:
    """The query for what a page shows."""
    from netinv_extras.graphql.web import snippet

    return [snippet.snippet]
