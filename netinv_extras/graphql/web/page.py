"""The page for GraphQL queries: query, variables, result, and the documentation of the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import RequestError
from netinv_core.hookspecs import hookimpl
from netinv_core.http.security_policy import API_ACCESS
from netinv_core.http.serialization import dumps
from netinv_core.presentation import MenuEntry, MenuSection
from netinv_web.pages import form_of, page, query_text

PATH = "/graphql/"
TEMPLATE = "netinv_extras:graphql/web/templates/graphql.jinja2"
MAX_TYPES = 12  # of the search in the schema
MAX_ARGUMENTS = 12  # of a field that are listed: lists have one for each filter, several hundred
EXAMPLE = """{
  sites(limit: 10) {
    name
    status { name }
  }
}"""


def show(request: Request) -> Response:
    """The page. GET may name a query; POST executes it with the permissions of the user, and writes nothing."""
    posted = form_of(request) if request.method == "POST" else None
    query, variables = (
        query_text(request, name) if posted is None else str(posted.get(name, "")) for name in ("query", "variables")
    )
    result, failed = "", False
    if posted is not None:
        result, failed = _execute(request, query, variables)
    word = query_text(request, "type")
    values = {
        "query": query or EXAMPLE,
        "variables": variables,
        "result": result,
        "failed": failed,
        "word": word,
        "types": _types(request, word) if word else [],
    }
    return page(request, TEMPLATE, values, 422 if failed else 200)


def _execute(request: Request, query: str, variables: str) -> tuple[str, bool]:
    """The result as indented JSON, and True if the query was not executed."""
    # Imported on first use: loading graphql-core takes as long as half of the service.
    from netinv_extras.graphql import query as graphql_query

    try:
        values = json.loads(variables) if variables.strip() else None
    except (ValueError, RecursionError) as error:
        return f"The variables are no JSON: {error}", True
    if values is not None and not isinstance(values, Mapping):
        return "The variables are no JSON object.", True
    try:
        answer = graphql_query.execute(request.uow, query, values)
    except RequestError as error:
        return _indent(error.body), True
    return _indent(answer), False


def _indent(value: Any) -> str:
    return json.dumps(json.loads(dumps(value)), indent=2, ensure_ascii=False)


def _types(request: Request, word: str) -> Sequence[dict[str, Any]]:
    """The type of the schema with this name, else the types whose name contains it, the shortest names first."""
    from netinv_extras.graphql.schema import schema_of

    schema = schema_of(request.uow).schema
    if word in schema.type_map:
        return [_type(schema.type_map[word])]
    names = [name for name in schema.type_map if word.lower() in name.lower() and not name.startswith("__")]
    return [_type(schema.type_map[name]) for name in sorted(names, key=lambda name: (len(name), name))[:MAX_TYPES]]


def _type(kind: Any) -> dict[str, Any]:
    fields = getattr(kind, "fields", None) or {}
    return {
        "name": kind.name,
        "description": kind.description or "",
        "fields": [
            {
                "name": name,
                "type": str(field.type),
                "arguments": _arguments(getattr(field, "args", {})),
            }
            for name, field in fields.items()
        ],
    }


def _arguments(arguments: Mapping[str, Any]) -> str:
    texts = [f"{name}: {argument.type}" for name, argument in islice(arguments.items(), MAX_ARGUMENTS)]
    more = len(arguments) - len(texts)
    return ", ".join(texts) + (f", and {more} more" if more else "")


@hookimpl
def netinv_web_menu() -> Sequence[MenuSection]:
    """The page for queries."""
    return [MenuSection("System", [MenuEntry("GraphQL", "/graphql/")], "cog-6-tooth", 900)]


def includeme(config: Any) -> None:
    """Adds the page."""
    config.add_netinv_page(PATH, show, permission=API_ACCESS, methods=["GET", "POST"], read_only=True)
