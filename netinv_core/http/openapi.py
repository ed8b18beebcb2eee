"""OpenAPI 3.0: one document a version, folded from the endpoints' fields, filters and actions.

Nothing here reads the database: the same registry and version give the same document.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from pyramid.config import Configurator

from netinv_core import fields as kinds
from netinv_core.errors import Conflict, Denied, Invalid, NotFound
from netinv_core.http import filter_fields, forms, parameters, roots, services, versions
from netinv_core.http.services import Action, Shape
from netinv_core.registry import Endpoint, Registry

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
_STRUCTURED: Schema = {"type": "object", "additionalProperties": True}


def _ref(name: str, group: str = "schemas") -> Schema:
    return {"$ref": f"#/components/{group}/{name}"}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _page_of(schema: Schema) -> Schema:
    link = {"type": "string", "format": "uri", "nullable": True}
    properties = {"count": {"type": "integer"}, "next": link, "previous": link, "results": _list_of(schema)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _single(pattern: str) -> Callable[[str], Schema]:
    return lambda name: _ref(pattern.format(name))


def _listed(pattern: str) -> Callable[[str], Schema]:
    return lambda name: _list_of(_ref(pattern.format(name)))


def _one_or_list(name: str) -> Schema:
    return {"oneOf": [_ref(name), _list_of(_ref(name))]}


_FORMS: dict[str, Callable[[Schema], Schema]] = {"one": lambda schema: schema, "list": _list_of, "page": _page_of}


@dataclasses.dataclass(frozen=True)
class Operation:
    """A method of a resource's list or item: its name in operationIds, and the schemas of body and answer by schema name.

    ``form`` is the pattern of the schema of its body as a form, where the resource takes files.
    """

    method: str
    name: str
    summary: str
    status: str = "200"
    takes: Callable[[str], Schema] | None = None
    gives: Callable[[str], Schema] | None = None
    errors: tuple[type[Exception], ...] = (Invalid, Denied)
    form: str = ""


LIST_OPERATIONS = (
    Operation("get", "list", "List {plural}.", gives=_single("Paginated{}List")),
    Operation("post", "create", "Create one of the {plural}, or several.", "201", lambda n: _one_or_list(f"{n}Request"), _one_or_list, form="{}Form"),
    Operation("put", "bulk_update", "Replace several {plural}.", takes=_listed("Bulk{}Request"), gives=_listed("{}")),
    Operation("patch", "bulk_partial_update", "Change several {plural}.", takes=_listed("PatchedBulk{}Request"), gives=_listed("{}")),
    Operation("delete", "bulk_destroy", "Delete several {plural}.", "204", _listed("{}Identity"), errors=(Invalid, Denied, Conflict)),
)
ITEM_OPERATIONS = (
    Operation("get", "retrieve", "Read a {title}.", gives=_ref, errors=(Denied, NotFound)),
    Operation("put", "update", "Replace a {title}.", "200", _single("{}Request"), _ref, (Invalid, Denied, NotFound), "{}Form"),
    Operation("patch", "partial_update", "Change a {title}.", "200", _single("Patched{}Request"), _ref, (Invalid, Denied, NotFound), "Patched{}Form"),
    Operation("delete", "destroy", "Delete a {title}.", "204", errors=(Denied, NotFound, Conflict)),
)
_ACTION_NAMES = {"get": "retrieve", "post": "create", "put": "update", "patch": "partial_update", "delete": "destroy"}
_ACTION_STATUS = {"post": 201, "delete": 204}
_UNSAID = Shape(takes={})
# path, method, view, schema of the answer: what is no resource
_ROOTS: Sequence[tuple[str, str, Any, Schema]] = (
    ("/", "get", roots.api_root, {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}),
    ("/plugins/", "get", roots.plugins_root, {"type": "object", "additionalProperties": {"type": "string", "format": "uri"}}),
    ("/plugins/installed-plugins/", "get", roots.installed_plugins, _list_of(_STRUCTURED)),
    ("/status/", "get", roots.status, _STRUCTURED),
    *[(f"{filter_fields.PATH}{name}/", "get", view, view.shape.shows) for name, view in filter_fields.VIEWS.items()],
)


def document(registry: Registry, version: str, actions: Iterable[Action] | None = None) -> dict[str, Any]:
    """The document of an API version; ``actions`` are those that the packages declare when not given."""
    writer = _Writer(registry, version)
    for path, method, view, schema in _ROOTS:
        writer.root(path, method, view, Shape(schema, takes=schema))
    for app in registry.apps.values():
        for path, view in app.views.items():
            for method in view.methods:
                writer.root(path.removeprefix("/api"), method, view, getattr(view, "shape", _UNSAID))
    for endpoint in sorted(registry.by_path.values(), key=lambda item: item.path):
        writer.endpoint(endpoint)
    for action in declared(registry) if actions is None else actions:
        for endpoint in action.endpoints(registry):
            writer.action(endpoint, action)
    return writer.finish()


def declared(registry: Registry) -> list[Action]:
    """The actions of every package, without a service: their own includes declare them to a configuration that serves nothing."""
    config = Configurator()
    config.registry.netinv = registry
    config.include("cornice")
    for app in registry.apps.values():
        for module in app.includes:
            config.include(module)
    return services.actions_of(config.registry)


def object_schema(endpoint: Endpoint, version: str, shape: Callable[[kinds.Field], Schema], shown: Iterable[kinds.Field], required: Iterable[str]) -> Schema:
    """The schema of an object of these fields, as ``version`` has it."""
    absent = versions.absent(endpoint, version)
    properties = {field.name: shape(field) for field in shown if field.name not in absent}
    found: Schema = {"type": "object", "properties": properties}
    if needed := [name for name in required if name in properties]:
        found["required"] = needed
    for change in reversed(endpoint.resource.versions):
        if versions.older(version, change.since):
            found = change.schema(found)
    return found


class _Writer:
    """A document in the making."""

    def __init__(self, registry: Registry, version: str) -> None:
        self.registry = registry
        self.version = version
        self.paths: dict[str, dict[str, Any]] = {}
        self.schemas: dict[str, Schema] = dict(_ERROR_SCHEMAS)
        self.common = parameters.common(version)
        self.parameters = dict(self.common)

    def finish(self) -> dict[str, Any]:
        """The whole document."""
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
                "parameters": dict(sorted(self.parameters.items())),
                "responses": _RESPONSES,
                "securitySchemes": _SECURITY,
            },
        }

    def root(self, path: str, method: str, view: Any, shape: Shape) -> None:
        """A path that is no resource."""
        schema = self.shown(shape.shows)
        name = "list" if schema.get("type") == "array" else _ACTION_NAMES[method]
        made = _operation(f"/api{path}", name, _summary(view), schema, "200", (Denied,))
        made["tags"] = [path.split("/")[1] or "root"]
        if query := getattr(view, "shape", _UNSAID).query:
            made["parameters"] = [dict(item) for item in query]
        if method != "get":
            made["requestBody"] = _body(self.shown(shape.takes, "Request"))
        self._add(path, method, made)

    def endpoint(self, endpoint: Endpoint) -> None:
        """A resource: its schemas, and the operations of its list and its items."""
        self._schemas_of(endpoint)
        path = endpoint.path.removeprefix("/api")
        for operation in LIST_OPERATIONS:
            query = self._list_parameters(endpoint) if operation.method == "get" else []
            self._offer(endpoint, path, operation, query)
        for operation in ITEM_OPERATIONS if endpoint.resource.of is None else ():
            query = self._shape_parameters(endpoint) if operation.method == "get" else []
            self._offer(endpoint, f"{path}{{id}}/", operation, [self._key(endpoint), *query])

    def action(self, endpoint: Endpoint, action: Action) -> None:
        """A route below a resource's items, or below its list."""
        place, keys = ("", _in_path(action.name)) if action.whole else ("{id}/", [self._key(endpoint)])
        for method, view in action.views.items():
            shape: Shape = getattr(view, "shape", _UNSAID)
            name = "list" if method == "get" and shape.form != "one" else f"{'bulk_' * (action.whole and method != 'get')}{_ACTION_NAMES[method]}"
            shown = _FORMS[shape.form](self.shown(shape.shows, ""))
            status = str(shape.status or _ACTION_STATUS.get(method, 200))
            made = _operation(f"{endpoint.path}{action.name}/", name, _summary(view), shown if status != "204" else None, status, (Invalid, Denied, NotFound))
            pages = [_ref(name, "parameters") for name in ("limit", "offset")] if shape.form == "page" else []
            made["parameters"] = [*keys, _ref("api_version", "parameters"), *pages, *map(dict, shape.query)]
            made["responses"][status].get("content", {}).update({media: {"schema": {"type": "string"}} for media in shape.also})
            if shape.takes is not None and method != "get":
                made["requestBody"] = _body(self.shown(shape.takes, "Request"))
            made["tags"] = [_tag(endpoint.app.path)]
            self._add(f"{endpoint.path.removeprefix('/api')}{place}{action.name}/", method, made)

    # -- parts

    def _add(self, path: str, method: str, made: dict[str, Any]) -> None:
        self.paths.setdefault(path, {})[method] = made

    def shown(self, what: services.Shown, suffix: str = "") -> Schema:
        if isinstance(what, str):
            found = self.registry.get(what)
            return _ref(f"{found.schema_name}{suffix}") if found is not None else _OBJECT
        return dict(what) if what is not None else {}

    def _offer(self, endpoint: Endpoint, path: str, operation: Operation, accepted: list[Schema]) -> None:
        if operation.method != "get" and services.ACTIONS[operation.method.upper()] not in endpoint.resource.writes:
            return
        name = endpoint.schema_name
        words = {"plural": endpoint.plural, "title": endpoint.title}
        gives = operation.gives(name) if operation.gives else None
        made = _operation(endpoint.path, operation.name, operation.summary.format(**words), gives, operation.status, operation.errors)
        made["tags"] = [_tag(endpoint.app.path)]
        made["parameters"] = [*accepted, _ref("api_version", "parameters")]
        if operation.takes is not None:
            made["requestBody"] = _body(operation.takes(name), _ref(operation.form.format(name)) if operation.form and endpoint.uploads else None)
        if endpoint.resource.basic:
            made["security"] = [{"tokenAuth": []}, {"basicAuth": []}]
        self._add(path, operation.method, made)

    def _schemas_of(self, endpoint: Endpoint) -> None:
        name, version, every = endpoint.schema_name, self.version, list(endpoint.fields.values())
        shown = [field for field in every if not field.write_only]
        nested = [field for field in endpoint.brief if field.nested != "absent"]
        always = [field.name for field in nested if field.name in endpoint.fields]  # brief and exclude leave out the others
        read = object_schema(endpoint, version, lambda field: field.schema(), shown, always)
        self.schemas[name] = read if not endpoint.model.__doc__ else {"description": endpoint.model.__doc__.strip(), **read}
        if endpoint.resource.of is None:
            self.schemas[f"Nested{name}"] = object_schema(endpoint, version, _nested, nested, [field.name for field in nested])
        paged = versions.former_listing(endpoint, version) is None
        self.schemas[f"Paginated{name}List"] = _page_of(_ref(name)) if paged else _list_of(_STRUCTURED)
        if not endpoint.resource.writes:
            return
        taken = endpoint.writable.values()
        needed = [field.name for field in taken if field.required]
        identity = {"type": "object", "properties": {"id": dict(endpoint.fields["id"].openapi)}, "required": ["id"]}
        self.schemas[f"{name}Identity"] = identity
        for prefix, required in (("", needed), ("Patched", [])):
            self.schemas[f"{prefix}{name}Request"] = object_schema(endpoint, version, lambda field: field.written_schema(), taken, required)
            self.schemas[f"{prefix}Bulk{name}Request"] = {"allOf": [_ref(f"{name}Identity"), _ref(f"{prefix}{name}Request")]}
            if endpoint.uploads:
                self.schemas[f"{prefix}{name}Form"] = object_schema(endpoint, version, lambda field: field.form_schema(), taken, required)

    def _key(self, endpoint: Endpoint) -> Schema:
        return _ref("id" if endpoint.key_type is not int else "number", "parameters")

    def _shape_parameters(self, endpoint: Endpoint) -> list[Schema]:
        absent = versions.absent(endpoint, self.version)
        sets = (
            ("exclude", endpoint.costly - absent, "Leaves out fields that take time to find."),
            ("include", endpoint.opt_in - absent, "Adds fields that are shown to those who ask for them."),
        )
        named = [parameters.query(name, _list_of({"type": "string", "enum": sorted(those)}), words) for name, those, words in sets if those]
        return [_ref("brief", "parameters"), *named]

    def _list_parameters(self, endpoint: Endpoint) -> list[Schema]:
        absent = versions.coming(endpoint, self.version)
        offered = sorted((item for item in endpoint.filters.values() if item.name not in absent), key=lambda item: item.name)
        found = [self._shared(made) for item in offered for made in parameters.of_filter(endpoint, item)]
        forms = [parameters.query(name, {"type": "string"}, item.help) for name, item in sorted(endpoint.renditions.items())]
        found += map(self._shared, forms)
        return [*found, _ref("limit", "parameters"), _ref("offset", "parameters"), *self._shape_parameters(endpoint)]

    def _shared(self, parameter: dict[str, Any]) -> dict[str, Any]:
        """A reference where another resource has the very same parameter: thousands are alike."""
        name = parameter["name"]
        if "enum" in str(parameter["schema"]) or name in self.common:
            return parameter
        return _ref(name, "parameters") if self.parameters.setdefault(name, parameter) == parameter else parameter


def _in_path(name: str) -> list[Schema]:
    """The parameters that the name of an action holds."""
    return [{"name": word, "in": "path", "required": True, "schema": {"type": "string"}} for word in re.findall(r"{(\w+)}", name)]


def _nested(field: kinds.Field) -> Schema:
    return {"nullable": True, "readOnly": True} if field.nested == "null" else field.brief_schema()


def _summary(view: Any) -> str:
    """The first line of a docstring."""
    return str(view.__doc__ or "").strip().partition("\n")[0]


def _tag(path: str) -> str:
    return path.removeprefix("/api/").strip("/")


def operation_id(path: str, name: str) -> str:
    """``/api/dcim/rack-groups/`` and ``list`` → ``dcim_rack_groups_list``; generated clients name their functions so."""
    words = path.removeprefix("/api").strip("/") or "root"
    return f"{re.sub(r'[/-]', '_', re.sub(r'[{}]', '', words))}_{name}"


def _operation(path: str, name: str, summary: str, gives: Schema | None, status: str, errors: Iterable[type[Exception]]) -> dict[str, Any]:
    answered: dict[str, Any] = {"description": HTTPStatus(int(status)).phrase}
    if gives is not None:
        answered["content"] = {versions.JSON: {"schema": gives}}
    responses = {status: answered} | {_status(error): _ref(error.__name__, "responses") for error in errors}
    return {"operationId": operation_id(path, name), "summary": summary, "responses": responses}


def _body(schema: Schema, form: Schema | None = None) -> dict[str, Any]:
    content = {versions.JSON: {"schema": schema}} | ({forms.MULTIPART: {"schema": form}} if form is not None else {})
    return {"required": True, "content": content}


_ERROR_SCHEMAS: Mapping[str, Schema] = {
    "Error": {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]},
    "FieldErrors": {"type": "object", "description": "Messages by field; `non_field_errors` are about the whole.", "additionalProperties": {}},
}
_FAULTS: Schema = {"anyOf": [_ref("FieldErrors"), _list_of(_ref("FieldErrors")), _ref("Error")]}
_ERRORS: Mapping[type[Any], Schema] = {Invalid: _FAULTS, Denied: _ref("Error"), NotFound: _ref("Error"), Conflict: _ref("Error")}


def _status(error: type[Any]) -> str:
    return str(error.status)


_RESPONSES = {
    error.__name__: {"description": _summary(error).partition(": ")[2].capitalize(), "content": {versions.JSON: {"schema": schema}}}
    for error, schema in _ERRORS.items()
}
_SECURITY = {
    "tokenAuth": {"type": "apiKey", "in": "header", "name": "Authorization", "description": "The word `Token`, a space, and the token's key."},
    "basicAuth": {"type": "http", "scheme": "basic", "description": "User name and password, to get a token by."},
}
