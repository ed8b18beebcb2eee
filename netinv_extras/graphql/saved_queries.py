"""Saved GraphQL queries, which users run with variables of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.fields import schema
from netinv_core.models.base import Organizational
from netinv_core.models.columns import ColumnInfo, json_document, required_text, slug
from netinv_core.resource import FieldFactory, Resource

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

EXAMPLE = "query { graphql_queries { name } }"


class GraphQLQuery(Organizational):
    """A query that is saved under a name. ``variables`` holds those that its text defines, with their defaults."""

    __tablename__ = "extras_graphql_query"

    name: Mapped[str] = required_text(100, unique=True)
    slug: Mapped[str] = slug()
    query: Mapped[str] = required_text()
    variables: Mapped[dict[str, Any]] = json_document(default=dict)


def _check_object(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError(f'Expected a dictionary of items but got type "{type(value).__name__}".')
    return value


def _variables(registry: Registry, endpoint: Endpoint) -> Field:
    """Returns the field ``variables``. A value that is sent must be an object; the rule below replaces it."""
    info = ColumnInfo(kind="json", parse=_check_object)
    return fields.Value(
        name="variables",
        attribute="variables",
        kind="nested object",
        nullable=True,
        info=info,
        node=schema.node("variables", dict, info, length=None, digits=None),
        openapi={"type": "object"},
    )


graphql_queries = Resource(
    GraphQLQuery,
    "graphql-queries",
    title="GraphQL query",
    plural="GraphQL queries",
    order=["slug"],
    search=["name", "slug"],
    fields=[FieldFactory("variables", _variables)],
    omit=["custom_fields", "computed_fields", "relationships"],
    example={"query": EXAMPLE},
)


@graphql_queries.rule
def queries_are_valid_graphql(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A query has valid syntax; its variables are read from it. Fields are validated when it is run."""
    from netinv_extras.graphql import query as graphql_query  # imported on first use: it is slow to load

    for draft in drafts:
        if draft.changed("query", "variables"):
            error = graphql_query.syntax_error(draft["query"])
            if error is not None:
                draft.reject("query", error)
            else:
                draft["variables"] = graphql_query.variables_of(draft["query"])
