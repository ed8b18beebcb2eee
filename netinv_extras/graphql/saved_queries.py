"""GraphQL queries that are kept: written once, run by whoever may, with variables of the moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.models.base import Organizational
from netinv_core.models.columns import ColumnInfo, json_document, required_text, slug
from netinv_core.registry import Registry
from netinv_core.resource import FieldFactory, Resource
from netinv_core.uow import UnitOfWork
from netinv_core.write import schema
from netinv_core.write.draft import Draft

EXAMPLE = "query { graphql_queries { name } }"


class GraphQLQuery(Organizational):
    """A query's text; ``variables`` are those that it defines, each with its default."""

    __tablename__ = "extras_graphql_query"

    name: Mapped[str] = required_text(100, unique=True)
    slug: Mapped[str] = slug()
    query: Mapped[str] = required_text()
    variables: Mapped[dict[str, Any]] = json_document(default=dict)


def _an_object(value: object) -> object:
    if not isinstance(value, dict):
        raise ValueError(f'Expected a dictionary of items but got type "{type(value).__name__}".')
    return value


def _variables(registry: Registry, endpoint: Endpoint) -> fields.Field:
    """The variables: what is sent is checked, then made anew from the query."""
    what = ColumnInfo(kind="json", parse=_an_object)
    node = schema.node("variables", dict, what, length=None, digits=None)
    return fields.Value(name="variables", attribute="variables", kind="nested object", nullable=True, known=what, node=node, openapi={"type": "object"})


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
def queries_can_be_read(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """A query is one by its syntax (whether it asks for what there is shows when it is run); its variables are those that it defines."""
    from netinv_extras.graphql import query as graphql_query  # loaded by those who have to do with queries only

    for draft in drafts:
        if draft.changed("query", "variables"):
            wrong = graphql_query.fault(draft["query"])
            if wrong is not None:
                draft.reject("query", wrong)
            else:
                draft["variables"] = graphql_query.variables_of(draft["query"])
