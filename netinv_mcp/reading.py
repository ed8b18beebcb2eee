"""Tools that read: each is a request of the API, so permissions, constraints and limits are those of any client."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from netinv_core.read.ordering import PARAMETER as ORDERING
from netinv_mcp import vocabulary
from netinv_mcp.api_calls import ApiCaller, ToolRefusal
from netinv_mcp.offered import CONTEXT, FREE, MODEL, Offered, Schema
from netinv_mcp.tools import FIELDS, ID, INSIDE, OFFSET, TEXT, agent_tool

PAGE = 50  # objects, where a call does not say how many
SEARCH, GRAPHQL = "/api/search/", "/api/graphql/"
# Parameters of lists that are no filters: tools have arguments for those that they offer.
RESERVED = frozenset(
    {"api_version", "brief", "change_request", "count", "cursor", "dry_run", "exclude", "fields", "format", "include"}
    | {"limit", "offset", ORDERING}
)
NO_FILTER = "It is no filter."
NOT_OFFERED = "Objects of this model do not have it; those of {} do."
SCALAR: Schema = {"type": ["string", "number", "boolean"]}
FILTERS: Schema = {
    "type": "object",
    "maxProperties": 50,
    "additionalProperties": {"anyOf": [SCALAR, {"type": "array", "items": SCALAR, "maxItems": 500}]},
    "description": (
        "Filters of the model by name, with a lookup after two underscores: "
        '{"site": "lisbon", "name__isw": "lis-", "status": ["active", "planned"]}. describe_model names them.'
    ),
}
ORDER: Schema = {
    "type": "array",
    "items": {"type": "string", "maxLength": 200},
    "minItems": 1,
    "maxItems": 10,
    "description": "Names to order by; `-` before a name: descending.",
}
GROUP: Schema = {"type": "integer", "minimum": 1, "maximum": 50, "description": "Objects of each model."}
OF_OBJECT = {"model": MODEL, "id": ID}
PARTS = ["fields", "filters", "order", "identified_by", "writes"]
FEWER = "Ask for fewer objects: name `fields`, add filters, or continue at a later offset."
Arguments = Mapping[str, Any]


@agent_tool(
    "Search",
    "Finds objects of all models by a name, an address, a prefix, a MAC address, a serial number or an id. Begin here "
    "where you do not know the model or the id. `in:devices core` searches one model.",
    {
        "text": {**TEXT, "minLength": 1},
        "limit": GROUP,
        "change_request": INSIDE,
    },
    needed=["text"],
    narrow="Search for a longer text, in one model (`in:devices …`), or with a smaller limit.",
    offered=lambda offered: SEARCH in offered.paths,
)
def search(caller: ApiCaller, arguments: Arguments) -> Any:
    """Objects of all models that a text identifies or names."""
    query = [("q", arguments["text"]), ("limit", str(arguments.get("limit", 5)))]
    return caller.get(SEARCH, query, arguments.get("change_request", ""))


@agent_tool("List models", "The models that you may view, by application, with their titles.", {})
def list_models(caller: ApiCaller, arguments: Arguments) -> Any:
    """The models that the user may view."""
    return vocabulary.models(caller)


@agent_tool(
    "Describe a model",
    "The fields of a model with types, choices and references, its filters with their lookups, and the names to order "
    "by. Read it before you filter by something, or propose objects of the model.",
    {"model": Offered.model, "parts": {"type": "array", "items": {"enum": PARTS}, "minItems": 1}},
    needed=["model"],
    narrow="Name one of the `parts`.",
)
def describe_model(caller: ApiCaller, arguments: Arguments) -> Any:
    """The fields and filters of a model."""
    shown = vocabulary.description(caller, vocabulary.model_of(caller, arguments))
    if "parts" in arguments:
        return {name: value for name, value in shown.items() if name in ("model", "title", *arguments["parts"])}
    return shown


@agent_tool(
    "List objects",
    "A page of objects of a model that match filters. Without `fields` objects have their brief form.",
    {
        "model": Offered.model,
        "filters": FILTERS,
        "fields": FIELDS,
        "order": ORDER,
        "limit": Offered.limit,
        "offset": OFFSET,
        "change_request": INSIDE,
    },
    needed=["model"],
    narrow=FEWER,
)
def list_objects(caller: ApiCaller, arguments: Arguments) -> Any:
    """A page of objects."""
    endpoint = vocabulary.model_of(caller, arguments)
    offset = arguments.get("offset", 0)
    query = [*_filter_parameters(arguments.get("filters", {}), endpoint.filters), *_shape(arguments, brief=True)]
    query += [("limit", str(arguments.get("limit", PAGE))), ("offset", str(offset))]
    if "order" in arguments:
        query.append((ORDERING, ",".join(arguments["order"])))
    page = caller.get(endpoint.path, query, arguments.get("change_request", ""))
    return {"count": page["count"], "offset": offset, "results": page["results"]}


def _filter_parameters(filters: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the parameters of filters.

    :raises ToolRefusal: for a parameter that is none
    """
    for name, value in filters.items():
        if name in RESERVED and name not in declared:
            raise ToolRefusal.of(f"filters.{name}", NO_FILTER)
        for item in value if isinstance(value, list) else [value]:
            yield name, str(item).lower() if isinstance(item, bool) else str(item)


def _shape(arguments: Arguments, *, brief: bool) -> Iterator[tuple[str, str]]:
    """Yields the parameters for the members of the objects to show."""
    if "fields" in arguments:
        yield "fields", ",".join(arguments["fields"])
    elif brief:
        yield "brief", "true"


@agent_tool(
    "Get an object",
    "One object with all of its fields, or with those named.",
    {**OF_OBJECT, "fields": FIELDS, "change_request": INSIDE},
    needed=["model", "id"],
    narrow="Name `fields`.",
)
def get_object(caller: ApiCaller, arguments: Arguments) -> Any:
    """One object."""
    path = vocabulary.path_of(vocabulary.model_of(caller, arguments), arguments)
    return caller.get(path, [*_shape(arguments, brief=False)], arguments.get("change_request", ""))


@agent_tool(
    "History of an object",
    "Who changed an object and when, field by field, newest first.",
    {**OF_OBJECT, "limit": Offered.limit, "offset": OFFSET},
    needed=["model", "id"],
    narrow="Ask for fewer changes by `limit`, or continue at a later `offset`.",
)
def get_history(caller: ApiCaller, arguments: Arguments) -> Any:
    """The changes of an object, newest first."""
    endpoint = vocabulary.model_of(caller, arguments)
    query = [("limit", str(arguments.get("limit", 20))), ("offset", str(arguments.get("offset", 0)))]
    page = caller.get(vocabulary.path_of(endpoint, arguments, "history/"), query)
    return {"count": page["count"], "results": page["results"]}


@agent_tool(
    "Config context",
    "The configuration context of a device or virtual machine: the data for its configuration, merged by its site, "
    "role, platform and the like.",
    {"model": Offered.configured, "id": ID, "change_request": INSIDE},
    needed=["model", "id"],
    narrow="The context itself is that long: read a config context that it is merged from (extras.configcontext).",
    offered=lambda offered: offered.contexts,
)
def get_config_context(caller: ApiCaller, arguments: Arguments) -> Any:
    """The merged configuration context of an object."""
    path = vocabulary.path_of(vocabulary.model_of(caller, arguments), arguments)
    return caller.get(path, [("fields", f"id,display,{CONTEXT}")], arguments.get("change_request", ""))


@agent_tool(
    "Trace cables",
    "The cable path that begins at a port or interface, or the paths that lead through a pass-through port or cable. "
    "Shows what a cut of it affects.",
    {"model": Offered.traced, "id": ID, "change_request": INSIDE},
    needed=["model", "id"],
    narrow="Trace from one end of the path.",
    offered=lambda offered: offered.traces,
)
def trace(caller: ApiCaller, arguments: Arguments) -> Any:
    """The cable path from an object, or those that lead through it."""
    endpoint = vocabulary.model_of(caller, arguments)
    name = caller.offered.traces[endpoint.label][0]
    path = vocabulary.path_of(endpoint, arguments, f"{name}/")
    return caller.get(path, (), arguments.get("change_request", ""))


@agent_tool(
    "Free space",
    "What is free in a prefix, range or group: the next addresses, prefixes or numbers, in their order. To take one, "
    "propose an object with it.",
    {
        "model": Offered.divided,
        "id": ID,
        "what": Offered.kinds,
        "limit": Offered.limit,
        "change_request": INSIDE,
    },
    needed=["model", "id", "what"],
    narrow="Ask for fewer by `limit`.",
    offered=lambda offered: offered.free,
)
def free_space(caller: ApiCaller, arguments: Arguments) -> Any:
    """The free addresses, prefixes or numbers of an object."""
    endpoint = vocabulary.model_of(caller, arguments)
    name = f"{FREE}{arguments['what']}"
    if name not in caller.offered.free[endpoint.label]:
        having = ", ".join(label for label, names in caller.offered.free.items() if name in names)
        raise ToolRefusal.of("what", NOT_OFFERED.format(having))
    free = caller.get(vocabulary.path_of(endpoint, arguments, f"{name}/"), (), arguments.get("change_request", ""))
    return {"free": free[: arguments.get("limit", 10)]}


@agent_tool(
    "GraphQL",
    "A GraphQL query over objects and what they refer to, in one request. It only reads. Limit lists: "
    '`{ devices(site: "lisbon", limit: 20) { name interfaces { name ip_addresses { address } } } }`.',
    {
        "query": {"type": "string", "minLength": 1, "maxLength": 20000},
        "variables": {"type": "object"},
        "change_request": INSIDE,
    },
    needed=["query"],
    narrow="Limit lists (`limit: 20`), filter, and ask for fewer fields.",
    offered=lambda offered: GRAPHQL in offered.paths,
)
def graphql(caller: ApiCaller, arguments: Arguments) -> Any:
    """The answer to a GraphQL query."""
    body = {"query": arguments["query"], "variables": arguments.get("variables") or {}}
    return caller.query(GRAPHQL, body, arguments.get("change_request", ""))
