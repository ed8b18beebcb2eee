"""Feature ``graphql``: queries over the models of all packages, and saved ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netinv_core.app import Feature
from netinv_core.presentation import MenuSection
from netinv_extras.graphql import views
from netinv_extras.graphql.saved_queries import graphql_queries

if TYPE_CHECKING:
    pass

feature = Feature(
    "graphql",
    "GraphQL",
    [graphql_queries],
    root_views={"graphql": views.graphql},
    includes=["netinv_extras.graphql.views"],
    web=[
        "netinv_extras.graphql.web.page",
        "netinv_extras.graphql.web.snippet",
    ],
    settings={
        "graphql_max_depth": (int, 12),
        "graphql_max_relations": (int, 100),
        "graphql_max_objects": (int, 100_000),
    },
    menu=[MenuSection("Customization", ["graphql-queries"], icon="adjustments-horizontal", position=716)],
)
