"""OpenAPI 3.0 documents, one for each API version, built from the endpoints' fields, filters and actions.

Nothing here reads the database: the same registry and version give the same document.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pyramid.config import Configurator

from netinv_core import fields
from netinv_core.endpoint import Endpoint
from netinv_core.errors import Conflict, Denied, Gone, Invalid, NotFound, RequestError
from netinv_core.http import filterset_views, multipart, openapi_parameters, root_views, versions
from netinv_core.http.actions import Action, OperationSchema, Shown, actions_of, schema_of
from netinv_core.http.methods import PERMISSIONS
from netinv_core.registry import Registry

Schema = dict[str, Any]
OPENAPI = "3.0.3"
DESCRIPTION = """The REST API of netinv, an inventory of networks.

* **Versions.** This document describes API version {version}. Ask for it with the header `Accept: application/json; version={version}`
  or the parameter `api_version={version}`; who asks for none is answered as {default}. Every answer names its version in `API-Version`.
* **Filters.** A parameter given several times means any of its values, different parameters must all hold. A parameter may end
  in a lookup: `name__ic=core`. `null` stands for "has none" where a filter names another object.
* **Pages.** Lists come in pages of `limit` objects from `offset` on.
* **References** are written as the id of an object or as an object of attributes that match exactly one.
* **Several at once.** `POST`, `PUT`, `PATCH` and `DELETE` of a list on a list's path: all of it happens, or none.
"""
_OBJECT: Schema = {"type": "object"}
_URLS: Schema = {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}
_STRUCTURED: Schema = {"type": "object", "additionalProperties": True}


def _ref(name: str, group: str = "schemas") -> Schema:
    return {"$ref": f"#/components/{group}/{name}"}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _page_of(schema: Schema) -> Schema:
    link = {"type": "string", "format": "uri", "nullable": True}
    properties = {"count": {"type": "integer"}, "next": link, "previous": link, "results": _list_of(schema)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _some_of(schema: Schema) -> Schema:
    return {"oneOf": [schema, _list_of(schema)]}


def _single(pattern: str) -> Callable[[str], Schema]:
    return lambda name: _ref(pattern.format(name))


def _listed(pattern: str) -> Callable[[str], Schema]:
    return lambda name: _list_of(_ref(pattern.format(name)))


def _one_or_list(name: str) -> Schema:
    return _some_of(_ref(name))


_FORMS: dict[str, Callable[[Schema], Schema]] = {"one": lambda schema: schema, "list": _list_of, "page": _page_of, "some": _some_of}


@dataclasses.dataclass(frozen=True)
class Operation:
    """Method of a resource's list or item: name in operationIds, and the schemas of body and answer by schema name.

    ``form`` is the name pattern of the schema of a multipart body, for resources with uploaded files.
    """

    method: str
    name: str
    summary: str
    status: str = "200"
    takes: Callable[[str], Schema] | None = None
    gives: Callable[[str], Schema] | None = None
    form: str = ""


LIST_OPERATIONS = (
    Operation("get", "list", "List {plural}.", gives=_single("Paginated{}List")),
    Operation("post", "create", "Create one of the {plural}, or several.", "201", lambda n: _one_or_list(f"{n}Request"), _one_or_list, form="{}Form"),
    Operation("put", "bulk_update", "Replace several {plural}.", takes=_listed("Bulk{}Request"), gives=_listed("{}")),
    Operation("patch", "bulk_partial_update", "Change several {plural}.", takes=_listed("PatchedBulk{}Request"), gives=_listed("{}")),
    Operation("delete", "bulk_destroy", "Delete several {plural}.", "204", _listed("{}Identity")),
)
ITEM_OPERATIONS = (
    Operation("get", "retrieve", "Read a {title}.", gives=_ref),
    Operation("put", "update", "Replace a {title}.", "200", _single("{}Request"), _ref, "{}Form"),
    Operation("patch", "partial_update", "Change a {title}.", "200", _single("Patched{}Request"), _ref, "Patched{}Form"),
    Operation("delete", "destroy", "Delete a {title}.", "204"),
)
_ACTION_NAMES = {"get": "retrieve", "post": "create", "put": "update", "patch": "partial_update", "delete": "destroy"}
_ACTION_STATUS = {"post": 201, "delete": 204}
# path, method, view and schema of the answer of paths that are not resources
_ROOTS: Sequence[tuple[str, str, Any, Shown]] = (
    ("/", "get", root_views.api_root, _URLS),
    ("/plugins/", "get", root_views.plugins_root, _URLS),
    ("/plugins/installed-plugins/", "get", root_views.installed_plugins, _list_of(_STRUCTURED)),
    ("/status/", "get", root_views.status, _STRUCTURED),
    *[(f"{filterset_views.PATH}{name}/", "get", view, schema_of(view).shows) for name, view in filterset_views.VIEWS.items()],
)


def document(registry: Registry, version: str, actions: Iterable[Action] | None = None) -> dict[str, Any]:
    """Returns the document of an API version; ``actions`` defaults to :func:`declared`."""
    writer = _Writer(registry, version)
    for path, method, view, schema in _ROOTS:
        writer.root(path, method, view, OperationSchema(schema, takes=schema))
    for app in registry.apps.values():
        writer.root(app.path.removeprefix("/api"), "get", root_views.app_root(app), OperationSchema(_URLS))
        for path, view in app.views.items():
            for method in view.methods:
                writer.root(path.removeprefix("/api"), method.lower(), view, schema_of(view))
    for endpoint in sorted(registry.by_path.values(), key=lambda item: item.path):
        writer.endpoint(endpoint)
    for action in declared(registry) if actions is None else actions:
        for endpoint in action.endpoints(registry):
            writer.action(endpoint, action)
    return writer.finish()


def declared(registry: Registry) -> list[Action]:
    """Returns the actions of every package, collected by running its includes with a throwaway Configurator."""
    config = Configurator()
    config.registry.netinv = registry
    config.include("cornice")
    config.include("netinv_core.http.actions")
    for app in registry.apps.values():
        for module in app.includes:
            config.include(module)
    return actions_of(config.registry)


def object_schema(
    shape: Callable[[fields.Field], Schema], shown: Iterable[fields.Field],
    required: Iterable[str], absent: Collection[str] = (),
) -> Schema:
    """Returns the schema of an object with the fields ``shown``, except those in ``absent``."""
    properties = {field.name: shape(field) for field in shown if field.name not in absent}
    schema: Schema = {"type": "object", "properties": properties}
    if required_names := [name for name in required if name in properties]:
        schema["required"] = required_names
    return schema


def as_version(endpoint: Endpoint, version: str, found: Schema) -> Schema:
    """Converts the schema of an object to an API version. Brief and nested forms are the same in every version."""
    for change in reversed(endpoint.resource.versions):
        if versions.older(version, change.since):
            found = change.schema(found)
    return found


class _Writer:
    """Builder of a document."""

    def __init__(self, registry: Registry, version: str) -> None:
        self.registry = registry
        self.version = version
        self.paths: dict[str, dict[str, Any]] = {}
        self.schemas: dict[str, Schema] = dict(_ERROR_SCHEMAS)
        self.common = openapi_parameters.common(version)

    def finish(self) -> dict[str, Any]:
        """Returns the whole document."""
        apps = sorted(self.registry.apps.values(), key=lambda app: app.path)
        return {
            "openapi": OPENAPI,
            "info": {
                "title": "netinv API",
                "version": f"{importlib.metadata.version('netinv-core')} ({self.version})",
                "description": DESCRIPTION.format(version=self.version, default=versions.DEFAULT),
            },
            "servers": [{"url": "/api"}],
            "security": [{"tokenAuth": []}],
            "tags": [{"name": _tag(app.path), "description": app.description or app.title} for app in apps],
            "paths": dict(sorted(self.paths.items())),
            "components": {
                "schemas": dict(sorted(self.schemas.items())),
                "responses": _RESPONSES,
                "securitySchemes": _SECURITY,
            },
        }

    def root(self, path: str, method: str, view: Any, shape: OperationSchema) -> None:
        """Adds a path that is not a resource."""
        schema = self.shown(shape.shows)
        name = "list" if schema.get("type") == "array" else _ACTION_NAMES[method]
        operation = _operation(f"/api{path}", method, name, _summary(view), schema, "200")
        operation["tags"] = [path.split("/")[1] or "root"]
        if query := schema_of(view).query:
            operation["parameters"] = [dict(item) for item in query]
        if method != "get":
            operation["requestBody"] = _body(self.shown(shape.takes, "Request"))
        self._add(path, method, operation)

    def endpoint(self, endpoint: Endpoint) -> None:
        """Adds a resource: its schemas, and the operations of its list and its items."""
        self._schemas_of(endpoint)
        path = endpoint.path.removeprefix("/api")
        for operation in LIST_OPERATIONS:
            query = self._list_parameters(endpoint) if operation.method == "get" else []
            self._offer(endpoint, path, operation, query)
        for operation in ITEM_OPERATIONS if endpoint.resource.of is None else ():
            query = self._shape_parameters(endpoint) if operation.method == "get" else []
            self._offer(endpoint, f"{path}{{id}}/", operation, [self._key(endpoint), *query])

    def action(self, endpoint: Endpoint, action: Action) -> None:
        """Adds a route below a resource's items or its list."""
        prefix, keys = ("", _in_path(action.name)) if action.on_list else ("{id}/", [self._key(endpoint)])
        for method, view in action.views.items():
            shape = schema_of(view)
            bulk = "bulk_" * (action.on_list and method != "get")
            name = "list" if method == "get" and shape.form != "one" else f"{bulk}{_ACTION_NAMES[method]}"
            schema = _FORMS[shape.form](self.shown(shape.shows, ""))
            status = str(shape.status or _ACTION_STATUS.get(method, 200))
            gives = schema if status != "204" else None
            path = f"{endpoint.path}{action.name}/"
            operation = _operation(path, method, name, _summary(view), gives, status, shape.errors)
            if shape.nothing:
                operation["responses"]["204"] = {"description": shape.nothing}
            pages = [self.common[name] for name in ("limit", "offset")] if shape.form == "page" else []
            operation["parameters"] = [*keys, self.common["api_version"], *pages, *map(dict, shape.query)]
            contents = {media: {"schema": {"type": "string"}} for media in shape.also}
            operation["responses"][status].get("content", {}).update(contents)
            if shape.takes is not None and method != "get":
                operation["requestBody"] = _body(self.shown(shape.takes, "Request"))
            operation["tags"] = [_tag(endpoint.app.path)]
            self._add(f"{endpoint.path.removeprefix('/api')}{prefix}{action.name}/", method, operation)

    # -- parts

    def _add(self, path: str, method: str, made: dict[str, Any]) -> None:
        self.paths.setdefault(path, {})[method] = made

    def shown(self, what: Shown, suffix: str = "") -> Schema:
        if isinstance(what, str):
            endpoint = self.registry.get(what)
            return _ref(f"{endpoint.schema_name}{suffix}") if endpoint is not None else _OBJECT
        return dict(what) if what is not None else {}

    def _offer(self, endpoint: Endpoint, path: str, operation: Operation, accepted: list[Schema]) -> None:
        if operation.method != "get" and PERMISSIONS[operation.method.upper()] not in endpoint.resource.writes:
            return
        name = endpoint.schema_name
        gives = operation.gives(name) if operation.gives else None
        if gives is not None and operation.name == "retrieve":
            gives = self._full_or_brief(endpoint, gives)
        summary = operation.summary.format(plural=endpoint.plural, title=endpoint.title)
        item = _operation(endpoint.path, operation.method, operation.name, summary, gives, operation.status)
        item["tags"] = [_tag(endpoint.app.path)]
        item["parameters"] = [*accepted, self.common["api_version"]]
        if operation.name == "list" and endpoint.list_formats:
            item["responses"][operation.status]["content"]["*/*"] = {"schema": {}}  # each has a media type of its own
        if operation.takes is not None:
            form = _ref(operation.form.format(name)) if operation.form and endpoint.uploads else None
            item["requestBody"] = _body(operation.takes(name), form)
        if endpoint.resource.allow_basic_auth:
            item["security"] = [{"tokenAuth": []}, {"basicAuth": []}]
        self._add(path, operation.method, item)

    def _schemas_of(self, endpoint: Endpoint) -> None:
        name, version, every = endpoint.schema_name, self.version, list(endpoint.fields.values())
        shown = [field for field in every if not field.write_only]
        nested = [field for field in endpoint.brief if field.nested != "absent"]
        always = [field.name for field in nested if field.name in endpoint.fields]  # in every form
        absent = versions.absent(endpoint, version)
        read = as_version(endpoint, version, object_schema(lambda field: field.schema(), shown, always, absent))
        self.schemas[name] = read if not endpoint.model.__doc__ else {"description": endpoint.model.__doc__.strip(), **read}
        if endpoint.resource.of is None:
            self.schemas[f"Nested{name}"] = object_schema(_nested, nested, [field.name for field in nested])
        if self._is_brief_apart(endpoint):
            self.schemas[f"Brief{name}"] = object_schema(_brief, endpoint.brief, [field.name for field in endpoint.brief])
        listed = _ref(name) if versions.former_listing(endpoint, version) is None else _STRUCTURED
        self.schemas[f"Paginated{name}List"] = _page_of(self._full_or_brief(endpoint, listed))
        if not endpoint.resource.writes:
            return
        taken = endpoint.writable.values()
        needed = [field.name for field in taken if field.required]
        identity = {"type": "object", "properties": {"id": dict(endpoint.fields["id"].openapi)}, "required": ["id"]}
        self.schemas[f"{name}Identity"] = identity
        absent = versions.coming(endpoint, version)
        for prefix, required in (("", needed), ("Patched", [])):
            written = object_schema(lambda field: field.written_schema(), taken, required, absent)
            self.schemas[f"{prefix}{name}Request"] = as_version(endpoint, version, written)
            self.schemas[f"{prefix}Bulk{name}Request"] = {"allOf": [_ref(f"{name}Identity"), _ref(f"{prefix}{name}Request")]}
            if endpoint.uploads:
                form = object_schema(lambda field: field.form_schema(), taken, required, absent)
                self.schemas[f"{prefix}{name}Form"] = as_version(endpoint, version, form)

    def _full_or_brief(self, endpoint: Endpoint, full: Schema) -> Schema:
        """Returns the schema of an object in an answer with the parameter ``brief``."""
        return {"anyOf": [full, _ref(f"Brief{endpoint.schema_name}")]} if self._is_brief_apart(endpoint) else full

    def _is_brief_apart(self, endpoint: Endpoint) -> bool:
        """True where the brief form has members that the schema of the full form does not allow."""
        full, absent = endpoint.fields, versions.absent(endpoint, self.version)
        common = full.keys() - absent
        return any(f.name not in common or f.brief_schema() != full[f.name].schema() for f in endpoint.brief)

    def _key(self, endpoint: Endpoint) -> Schema:
        return self.common["id" if endpoint.key_type is not int else "number"]

    def _shape_parameters(self, endpoint: Endpoint) -> list[Schema]:
        absent = versions.absent(endpoint, self.version)
        sets = (
            ("exclude", endpoint.costly - absent, "Leaves out fields that take time to find."),
            ("include", endpoint.opt_in - absent, "Adds fields that are shown to those who ask for them."),
        )
        parameters = [
            openapi_parameters.query(name, _list_of({"type": "string", "enum": sorted(values)}), description)
            for name, values, description in sets if values
        ]
        return [self.common["brief"], *parameters]

    def _list_parameters(self, endpoint: Endpoint) -> list[Schema]:
        absent = versions.coming(endpoint, self.version)
        offered = sorted((item for item in endpoint.filters.values() if item.name not in absent), key=lambda item: item.name)
        parameters = [parameter for item in offered for parameter in openapi_parameters.of_filter(endpoint, item)]
        forms = [openapi_parameters.query(name, {"type": "string"}, item.help) for name, item in sorted(endpoint.list_formats.items())]
        return [*parameters, *forms, self.common["limit"], self.common["offset"], *self._shape_parameters(endpoint)]


def _in_path(name: str) -> list[Schema]:
    """Returns the path parameters in the name of an action."""
    return [{"name": word, "in": "path", "required": True, "schema": {"type": "string"}} for word in re.findall(r"{(\w+)}", name)]


def _brief(field: fields.Field) -> Schema:
    return field.brief_schema()


def _nested(field: fields.Field) -> Schema:
    return {"nullable": True, "readOnly": True} if field.nested == "null" else field.brief_schema()


def _summary(view: Any) -> str:
    """Returns the first line of a docstring."""
    return str(view.__doc__ or "").strip().partition("\n")[0]


def _tag(path: str) -> str:
    return path.removeprefix("/api/").strip("/")


def operation_id(path: str, name: str) -> str:
    """Returns an operationId, e.g. ``dcim_rack_groups_list``; generated clients use it as a function name."""
    words = path.removeprefix("/api").strip("/") or "root"
    return f"{re.sub(r'[/-]', '_', re.sub(r'[{}]', '', words))}_{name}"


def _operation(
    path: str, method: str, name: str, summary: str, gives: Schema | None, status: str,
    errors: Iterable[type[RequestError]] = (),
) -> dict[str, Any]:
    """Returns an operation with its answers: success, the errors of every read or write, ``errors``, and any other."""
    success: dict[str, Any] = {"description": HTTPStatus(int(status)).phrase}
    if gives is not None:
        success["content"] = {versions.JSON: {"schema": gives}}
    usual = (Invalid, Denied, NotFound) if method == "get" else (Invalid, Denied, NotFound, Conflict)
    responses = {status: success}
    for error in (*usual, *errors):
        responses[str(error.status)] = _ref(error.__name__, "responses")
    responses["default"] = _ref("RequestError", "responses")
    return {"operationId": operation_id(path, name), "summary": summary, "responses": responses}


def _body(schema: Schema, form: Schema | None = None) -> dict[str, Any]:
    content = {versions.JSON: {"schema": schema}} | ({multipart.MULTIPART: {"schema": form}} if form is not None else {})
    return {"required": True, "content": content}


_ERROR_SCHEMAS: Mapping[str, Schema] = {
    "Error": {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]},
    "FieldErrors": {"type": "object", "description": "Messages by field; `non_field_errors` are about the whole.", "additionalProperties": {}},
}
_FAULTS: Schema = {"anyOf": [_ref("FieldErrors"), _list_of(_ref("FieldErrors")), _ref("Error")]}
_RESPONSES = {
    error.__name__: {
        "description": _summary(error).partition(": ")[2].capitalize() or "Any other error.",
        "content": {versions.JSON: {"schema": _FAULTS if error is Invalid else _ref("Error")}},
    }
    for error in (RequestError, Invalid, Denied, NotFound, Conflict, Gone)
}
_SECURITY = {
    "tokenAuth": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "The word `Token`, a space, and the token's key."},
    "basicAuth": {"type": "http", "scheme": "basic", "description": "User name and password, to get a token by."},
}
