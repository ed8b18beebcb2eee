"""OpenAPI 3.0 documents, one for each API version, built from the endpoints' fields, filters and actions.

Nothing here reads the database: the same registry and version give the same document.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.config import Configurator

from netinv_core import fields
from netinv_core.errors import Gone
from netinv_core.fields import openapi_types
from netinv_core.fields.images import uploads_of
from netinv_core.http import (
    bulk_writes,
    conditional,
    dry_run,
    idempotency,
    problems,
    root_views,
    sparse_fields,
    versions,
)
from netinv_core.http.actions import (
    OWN_RESOURCE,
    ActionRoute,
    BodyOf,
    OperationSchema,
    SchemaRef,
    actions_of,
    schema_of,
)
from netinv_core.http.list_formats import formats_of
from netinv_core.http.methods import PERMISSIONS
from netinv_core.http.query_parameters import query
from netinv_core.http.services import ServiceRoute
from netinv_core.read.entity_tags import INCLUDED
from netinv_core.read.past_states import has_history
from netinv_openapi import colander_schemas, files, filterset_views, object_schemas, parameters
from netinv_openapi.object_schemas import object_schema
from netinv_openapi.operations import (
    ERROR_SCHEMAS,
    FORMS,
    ITEM_OPERATIONS,
    LIST_OPERATIONS,
    RESPONSES,
    DescribedOperation,
    Schema,
    body_of,
    component,
    list_of,
    operation_of,
    page_of,
    some_of,
    summary_of,
)

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry

OPENAPI = "3.0.3"
PERMISSION = "x-permission"  # of an operation: the type of object and the action that the user needs: `dcim.site view`
DESCRIPTION = """The REST API of netinv, an inventory of networks.

* **Versions.** This document describes API version {version}. Ask for it with the header
  `Accept: application/json; version={version}` or the parameter `api_version={version}`; who asks for none is answered
  as {default}. Every answer names its version in `API-Version`.
* **Filters.** A parameter given several times means any of its values, different parameters must all hold. A parameter
  may end in a lookup: `name__ic=core`. `null` stands for "has none" where a filter names another object.
* **Pages.** Lists come in pages of `limit` objects from `offset` on.
* **References** are written as the id of an object or as an object of attributes that match exactly one.
* **Several at once.** `POST`, `PUT`, `PATCH` and `DELETE` of a list on a list's path: all of it happens, or none.
"""
_OBJECT: Schema = {"type": "object"}
_URLS: Schema = {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}
_STRUCTURED: Schema = {"type": "object", "additionalProperties": True}


_ACTION_NAMES = {"get": "retrieve", "post": "create", "put": "update", "patch": "partial_update", "delete": "destroy"}
_ACTION_STATUS = {"post": 201, "delete": 204}
# path, method, view and schema of the answer of paths that are not resources
_ROOTS: Sequence[tuple[str, str, Any, SchemaRef]] = (
    ("/", "get", root_views.api_root, _URLS),
    ("/plugins/", "get", root_views.plugins_root, _URLS),
    ("/plugins/installed-plugins/", "get", root_views.installed_plugins, list_of(_STRUCTURED)),
    ("/status/", "get", root_views.status, _STRUCTURED),
    *[
        (f"{filterset_views.PATH}{name}/", "get", view, schema_of(view).response)
        for name, view in filterset_views.VIEWS.items()
    ],
)


def document(
    registry: Registry, version: str, actions: Iterable[ActionRoute] | None = None, mount: str = ""
) -> dict[str, Any]:
    """Returns the document of an API version; ``actions`` defaults to :func:`collect_actions`."""
    writer = _Writer(registry, version, mount)
    for path, method, view, schema in _ROOTS:
        writer.root(path, method, view, OperationSchema(schema, request_body=schema))
    for app in registry.apps.values():
        if app.rooted:
            writer.root(app.path.removeprefix("/api"), "get", root_views.app_root(app), OperationSchema(_URLS))
        for path, view in app.views.items():
            for method in view.methods:
                writer.root(path.removeprefix("/api"), method.lower(), view, schema_of(view))
    for endpoint in sorted(registry.by_path.values(), key=lambda item: item.path):
        writer.endpoint(endpoint)
    for action in collect_actions(registry) if actions is None else actions:
        for endpoint in action.endpoints(registry):
            writer.action(endpoint, action)
    for route in registry.services.values():
        writer.service(route)
    return writer.finish()


def collect_actions(registry: Registry) -> list[ActionRoute]:
    """Returns the actions of every package, collected by running its includes with a throwaway Configurator."""
    config = Configurator()
    config.registry.netinv = registry
    config.include("cornice")
    config.include("netinv_core.http.pipeline")
    config.include("netinv_core.http.actions")
    config.include("netinv_core.http.query_views")
    config.include("netinv_core.http.services")
    for app in registry.apps.values():
        for module in app.includes:
            config.include(module)
    return actions_of(config.registry)


class _Writer:
    """Builder of a document."""

    def __init__(self, registry: Registry, version: str, mount: str) -> None:
        self.registry = registry
        self.mount = mount
        self.version = version
        self.paths: dict[str, dict[str, Any]] = {}
        self.schemas: dict[str, Schema] = {
            bulk_writes.SCHEMA_NAME: dict(bulk_writes.SCHEMA),
            dry_run.SCHEMA_NAME: dict(dry_run.SCHEMA),
            problems.SCHEMA_NAME: problems.SCHEMA,
            openapi_types.LABELLED: dict(openapi_types.LABELLED_SCHEMA),
            **ERROR_SCHEMAS,
        }
        self.common = parameters.common(version)

    def finish(self) -> dict[str, Any]:
        """Returns the whole document."""
        apps = sorted((app for app in self.registry.apps.values() if app.rooted), key=lambda app: app.path)
        return {
            "openapi": OPENAPI,
            "info": {
                "title": "netinv API",
                "version": f"{importlib.metadata.version('netinv-core')} ({self.version})",
                "description": DESCRIPTION.format(version=self.version, default=versions.DEFAULT),
            },
            "servers": [{"url": f"{self.mount}/api"}],
            "security": [{"tokenAuth": []}],
            "tags": [{"name": _tag(app.path), "description": app.description or app.title} for app in apps],
            "paths": dict(sorted(self.paths.items())),
            "components": {
                "schemas": dict(sorted(self.schemas.items())),
                "responses": RESPONSES,
                "headers": conditional.HEADERS,
                "securitySchemes": _SECURITY,
            },
        }

    def root(self, path: str, method: str, view: Any, shape: OperationSchema) -> None:
        """Adds a path that is not a resource."""
        schema = self.resolve(shape.response)
        name = "list" if schema.get("type") == "array" else _ACTION_NAMES[method]
        operation = operation_of(f"/api{path}", method, name, summary_of(view), schema, "200")
        operation["tags"] = [path.split("/")[1] or "root"]
        if query := schema_of(view).query:
            operation["parameters"] = [dict(item) for item in query]
        if method != "get":
            operation["requestBody"] = body_of(self.resolve(shape.request_body, "Request"))
        self._add(path, method, operation, read_only=view.read_only)

    def endpoint(self, endpoint: Endpoint) -> None:
        """Adds a resource: its schemas, and the operations of its list and its items."""
        self._schemas_of(endpoint)
        path = endpoint.path.removeprefix("/api")
        for operation in LIST_OPERATIONS:
            query = self._list_parameters(endpoint) if operation.method == "get" else self._of_write(operation)
            self._offer(endpoint, path, operation, query)
        for operation in ITEM_OPERATIONS if endpoint.resource.of is None else ():
            query = self._item_parameters(endpoint) if operation.method == "get" else self._of_write(operation)
            self._offer(endpoint, f"{path}{{id}}/", operation, [self._key(endpoint), *query])

    def action(self, endpoint: Endpoint, action: ActionRoute) -> None:
        """Adds a route below a resource's items or its list."""
        prefix, keys = ("", parameters.in_path(action.name)) if action.on_list else ("{id}/", [self._key(endpoint)])
        for method, view in action.views.items():
            shape = schema_of(view)
            bulk = "bulk_" * (action.on_list and method != "get")
            name = "list" if method == "get" and shape.form != "one" else f"{bulk}{_ACTION_NAMES[method]}"
            read = self._list_schema(endpoint) if shape.response == OWN_RESOURCE else self.resolve(shape.response, "")
            schema = FORMS[shape.form](read)
            status = str(shape.status or _ACTION_STATUS.get(method, 200))
            path, response = f"{endpoint.path}{action.name}/", schema if status != "204" else None
            operation = operation_of(path, method, name, summary_of(view), response, status, shape.errors)
            if shape.no_content:
                operation["responses"]["204"] = {"description": shape.no_content}
            pages = [self.common[name] for name in ("limit", "offset")] if shape.form == "page" else []
            operation["parameters"] = [*keys, self.common["api_version"], *pages, *map(dict, shape.query)]
            contents = {media: {"schema": {"type": "string"}} for media in shape.media_types}
            operation["responses"][status].get("content", {}).update(contents)
            if shape.request_body is not None and method != "get":
                body = self.resolve(shape.request_body, "Request")
                operation["requestBody"] = body_of(some_of(body) if shape.form == "some" else body)
            operation["tags"] = [_tag(endpoint.app.path)]
            operation[PERMISSION] = f"{endpoint.label} {action.permissions[method]}"
            if not (method == "get" or action.on_list or action.read_only):
                conditional.describe(operation, method, tagged=False)
            self._add(
                f"{endpoint.path.removeprefix('/api')}{prefix}{action.name}/",
                method,
                operation,
                read_only=action.read_only,
            )

    def service(self, route: ServiceRoute) -> None:
        """Adds a service of a package."""
        for method, found in route.operations.items():
            shared = (self.resolve, self.common["api_version"])
            operation = colander_schemas.operation(route.path, method, _ACTION_NAMES[method], found, *shared)
            self._add(route.path.removeprefix("/api"), method, operation)

    # -- parts

    def _add(self, path: str, method: str, operation: dict[str, Any], *, read_only: bool = False) -> None:
        if method != "get" and not read_only:
            dry_run.describe(operation)
            idempotency.describe(operation)
        self.paths.setdefault(path, {})[method] = operation

    def resolve(self, ref: SchemaRef, suffix: str = "") -> Schema:
        """Returns a schema, or a reference to that of a resource whose name ends in ``suffix``."""
        if isinstance(ref, BodyOf):
            return self._body_of(ref)
        if isinstance(ref, str):
            endpoint = self.registry.get(ref)
            return component(f"{endpoint.schema_name}{suffix}") if endpoint is not None else _OBJECT
        return dict(ref) if ref is not None else {}

    def _body_of(self, body: BodyOf) -> Schema:
        """Adds the schema of a body; returns a reference to it."""
        whole = self.schemas[f"{self.registry[body.label].schema_name}Request"]
        members = {name: schema for name, schema in whole["properties"].items() if name not in body.without}
        stated = [name for name in whole.get("required", ()) if name in members and name not in body.optional]
        required = [*body.members, *stated]
        schema = {**whole, "properties": {**body.members, **members}, "required": required}
        self.schemas[body.name] = {name: value for name, value in schema.items() if value != []}
        return component(body.name)

    def _offer(self, endpoint: Endpoint, path: str, operation: DescribedOperation, accepted: list[Schema]) -> None:
        if operation.method != "get" and PERMISSIONS[operation.method.upper()] not in endpoint.resource.writes:
            return
        name = endpoint.schema_name
        response = operation.response(name) if operation.response else None
        if response is not None and operation.name == "retrieve":
            response = self._full_or_brief(endpoint, response)
        summary = operation.summary.format(plural=endpoint.plural, title=endpoint.title)
        item = operation_of(endpoint.path, operation.method, operation.name, summary, response, operation.status)
        if operation.name == "retrieve" and has_history(endpoint):
            item["responses"][str(Gone.status)] = component(Gone.__name__, "responses")
        item["tags"] = [_tag(endpoint.app.path)]
        item[PERMISSION] = f"{endpoint.label} {PERMISSIONS[operation.method.upper()]}"
        item["parameters"] = [*accepted, self.common["api_version"]]
        if operation.name == "list":
            # Each format has a media type of its own.
            more: Schema = {"*/*": {"schema": {}}} if formats_of(endpoint) else {}
            item["responses"][operation.status]["content"] |= files.answer_contents(list_of(_OBJECT)) | more
        if operation.request_body is not None:
            form = component(operation.form.format(name)) if operation.form and uploads_of(endpoint) else None
            item["requestBody"] = body_of(operation.request_body(name), form)
        if operation.name in files.IMPORTS:
            item["requestBody"]["content"] = files.body_contents(item["requestBody"]["content"])
        if operation.method != "post":
            conditional.describe(item, operation.method, listed=not path.endswith("{id}/"))
        if endpoint.resource.allow_basic_auth:
            item["security"] = [{"tokenAuth": []}, {"basicAuth": []}]
        if operation in LIST_OPERATIONS and operation.method != "get":
            bulk_writes.describe(endpoint, item, operation.method)
        self._add(path, operation.method, item)

    def _schemas_of(self, endpoint: Endpoint) -> None:
        name, version, every = endpoint.schema_name, self.version, list(endpoint.fields.values())
        readable = [field for field in every if not field.write_only]
        nested = [field for field in endpoint.brief if field.nested != "absent"]
        always = [field.name for field in nested if field.name in endpoint.fields]  # in every form
        absent = versions.absent(endpoint, version)
        read = versions.as_version(
            endpoint, version, object_schema(lambda field: field.schema(), readable, always, absent)
        )
        read["properties"] = {**read["properties"], conditional.MEMBER: conditional.MEMBER_SCHEMA}
        self.schemas[name] = (
            read if not endpoint.model.__doc__ else {"description": endpoint.model.__doc__.strip(), **read}
        )
        if endpoint.resource.of is None:
            self.schemas[f"Nested{name}"] = object_schema(
                object_schemas.nested_schema, nested, [field.name for field in nested]
            )
        if self._is_brief_apart(endpoint):
            brief = object_schema(object_schemas.brief, endpoint.brief, [field.name for field in endpoint.brief])
            brief["properties"][conditional.MEMBER] = conditional.MEMBER_SCHEMA
            self.schemas[f"Brief{name}"] = brief
        self.schemas[f"Paginated{name}List"] = page_of(self._list_schema(endpoint))
        if not endpoint.resource.writes:
            return
        taken = endpoint.writable.values()
        needed = [field.name for field in taken if field.required and field.default is fields.NONE]
        members = {"id": dict(endpoint.fields["id"].openapi), conditional.MEMBER: conditional.MEMBER_SCHEMA}
        identity = {"type": "object", "properties": members, "required": ["id"]}
        self.schemas[f"{name}Identity"] = identity
        absent = versions.added_since(endpoint, version)
        for prefix, required in (("", needed), ("Patched", [])):
            written = object_schema(
                object_schemas.patched_schema if prefix else object_schemas.written_schema, taken, required, absent
            )
            self.schemas[f"{prefix}{name}Request"] = versions.as_version(endpoint, version, written)
            self.schemas[f"{prefix}Bulk{name}Request"] = {
                "allOf": [component(f"{name}Identity"), component(f"{prefix}{name}Request")]
            }
            if uploads_of(endpoint):
                form = object_schema(lambda field: field.form_schema(), taken, required, absent)
                self.schemas[f"{prefix}{name}Form"] = versions.as_version(endpoint, version, form)

    def _list_schema(self, endpoint: Endpoint) -> Schema:
        """Returns the schema of an object in a list."""
        is_former = versions.former_listing(endpoint, self.version) is not None
        return self._full_or_brief(endpoint, _STRUCTURED if is_former else component(endpoint.schema_name))

    def _full_or_brief(self, endpoint: Endpoint, full: Schema) -> Schema:
        """Returns the schema of an object in an answer with the parameter ``brief``."""
        return {"anyOf": [full, component(f"Brief{endpoint.schema_name}")]} if self._is_brief_apart(endpoint) else full

    def _is_brief_apart(self, endpoint: Endpoint) -> bool:
        """True where the brief form has members that the schema of the full form does not allow."""
        full, absent = endpoint.fields, versions.absent(endpoint, self.version)
        common = full.keys() - absent
        return any(f.name not in common or f.brief_schema() != full[f.name].schema() for f in endpoint.brief)

    def _key(self, endpoint: Endpoint) -> Schema:
        return self.common["id" if endpoint.key_type is not int else "number"]

    def _of_write(self, operation: DescribedOperation) -> list[Schema]:
        return [] if operation.method == "delete" else [self.common["include"]]

    def _item_parameters(self, endpoint: Endpoint) -> list[Schema]:
        past = [self.common["as_of"]] if has_history(endpoint) else []
        return [*past, *self._shape_parameters(endpoint)]

    def _shape_parameters(self, endpoint: Endpoint) -> list[Schema]:
        absent = versions.absent(endpoint, self.version)
        sets = (
            ("exclude", endpoint.costly - absent, "Leaves out fields that take time to find."),
            ("include", endpoint.opt_in - absent | {INCLUDED}, "Adds fields that are shown to those who ask for them."),
        )
        parameters = [
            query(name, list_of({"type": "string", "enum": sorted(values)}), description)
            for name, values, description in sets
            if values
        ]
        own = [self.common[sparse_fields.PARAMETER]] if sparse_fields.PARAMETER not in endpoint.filters else []
        return [self.common["brief"], *own, *parameters]

    def _list_parameters(self, endpoint: Endpoint) -> list[Schema]:
        own = parameters.of_list(endpoint, absent=versions.added_since(endpoint, self.version))
        return [
            *own,
            *map(dict, files.PARAMETERS),
            self.common["limit"],
            self.common["offset"],
            *self._shape_parameters(endpoint),
        ]


def _tag(path: str) -> str:
    return path.removeprefix("/api/").strip("/")


_SECURITY = {
    "tokenAuth": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The word `Token`, a space, and the token's key.",
    },
    "basicAuth": {"type": "http", "scheme": "basic", "description": "User name and password, to get a token by."},
}
