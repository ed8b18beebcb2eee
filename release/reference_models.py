"""Pages about models for the documentation site, from the OpenAPI document: fields, filters, operations, examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from netinv_core.endpoint import Endpoint
from netinv_core.registry import Registry
from netinv_openapi.documents import PERMISSION

Schema = Mapping[str, Any]
_ID = "5be2c5e5-2d1c-4a5b-9f9f-0c8f7c0f6c11"
_TEXTS = {
    "uuid": _ID,
    "date": "2026-03-01",
    "date-time": "2026-03-01T08:00:00Z",
    "decimal": "1.50",
    "uri": "https://netinv.example.com/…",
    "email": "noc@example.com",
}
_SIMPLE = {"integer": 1, "number": 1.5, "boolean": True, "object": {}, "array": []}


def file_of(endpoint: Endpoint) -> str:
    """The file of a resource's page, in the folder of the models: ``dcim-sites.md``."""
    return f"{endpoint.path.removeprefix('/api/').strip('/').replace('/', '-')}.md"


def row(*cells: str) -> str:
    """A row of a table in Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in Markdown, with a blank line behind it."""
    return [row(*titles), f"|{'---|' * len(titles)}", *(row(*cells) for cells in rows), ""]


class ModelPages:
    """Writer of the pages about models: one for each resource of a registry."""

    def __init__(self, registry: Registry, document: Mapping[str, Any]) -> None:
        self._registry = registry
        self._paths: Mapping[str, Any] = document["paths"]
        self._schemas: Mapping[str, Schema] = document["components"]["schemas"]

    def pages(self) -> dict[str, str]:
        """The text of each page, by file."""
        return {file_of(endpoint): self.page(endpoint) for endpoint in self._registry.by_path.values()}

    def page(self, endpoint: Endpoint) -> str:
        """The page about a resource."""
        schema = self._schemas[endpoint.schema_name]
        title = endpoint.plural[:1].upper() + endpoint.plural[1:]
        lines = [f"# {title}", "", _text(schema.get("description", "")), "", f"`{endpoint.path}`", ""]
        lines += [f"The type of object in permissions, filters and change records is `{endpoint.label}`.", ""]
        lines += ["## Fields", "", *self._fields(endpoint, schema)]
        lines += ["## Filters", "", *self._filters(endpoint)]
        lines += ["## Operations", "", *self._operations(endpoint)]
        lines += ["## Examples", "", *self._examples(endpoint, schema)]
        return "\n".join(lines)

    def _fields(self, endpoint: Endpoint, schema: Schema) -> list[str]:
        written = self._schemas.get(f"{endpoint.schema_name}Request", {})
        required = set(written.get("required", ()))
        properties = {**written.get("properties", {}), **schema["properties"]}
        rows = []
        for name, shown in sorted(properties.items(), key=lambda item: (item[0] not in required, item[0])):
            taken = written.get("properties", {}).get(name)
            use = "required" if name in required else "optional" if taken is not None else "read only"
            if name not in schema["properties"]:
                use += ", never shown"
            rows.append([f"`{name}`", self._type(taken or shown), use, self._help(shown, taken or {})])
        return table(["field", "type", "", "meaning"], rows)

    def _help(self, shown: Schema, taken: Schema) -> str:
        parts = [shown.get("description") or taken.get("description") or shown.get("title", "")]
        values = taken.get("enum") or shown.get("enum") or shown.get("properties", {}).get("value", {}).get("enum")
        parts += ["One of " + ", ".join(f"`{value}`" for value in values if value is not None)] if values else []
        parts += [f"At most {taken['maxLength']} characters"] if "maxLength" in taken else []
        if "minimum" in taken and "maximum" in taken:
            parts.append(f"{taken['minimum']} to {taken['maximum']}")
        return ". ".join(_text(part).rstrip(".") for part in parts if part)

    def _type(self, schema: Schema) -> str:
        """The type of values that a schema describes, in words."""
        nothing = " or null" if schema.get("nullable") else ""
        for word in ("oneOf", "anyOf", "allOf"):
            if word in schema:
                names = list(dict.fromkeys(self._type(part) for part in schema[word]))
                return " or ".join(names) + nothing
        if "$ref" in schema:
            return "object" + nothing
        if schema.get("type") == "array":
            return f"list of {self._type(schema.get('items', {}))}{nothing}"
        if {"value", "label"} == set(schema.get("properties", ())):
            return "choice" + nothing
        return str(schema.get("format") or schema.get("type") or "any") + nothing

    def _filters(self, endpoint: Endpoint) -> list[str]:
        listed = self._paths[endpoint.path.removeprefix("/api")].get("get")
        if listed is None:
            return ["It has no list.", ""]
        plain: dict[str, Schema] = {}
        lookups: dict[str, list[str]] = {}
        for parameter in listed["parameters"]:
            name, found, suffix = parameter["name"].partition("__")
            if found and name in plain:
                lookups.setdefault(name, []).append(suffix)
            else:
                plain[parameter["name"]] = parameter
        rows = []
        for name, parameter in plain.items():
            suffixes = " ".join(f"`{suffix}`" for suffix in lookups.get(name, ()))
            rows.append([f"`{name}`", self._type(parameter["schema"]), suffixes, _text(parameter.get("description"))])
        head = ["A filter may end in two underscores and a [lookup](../../api.md#filters): `name__ic=core`.", ""]
        return [*head, *table(["filter", "type", "lookups", "meaning"], rows)]

    def _operations(self, endpoint: Endpoint) -> list[str]:
        prefix = endpoint.path.removeprefix("/api")
        longer = [e.path.removeprefix("/api") for e in self._registry.by_path.values() if e.path != endpoint.path]
        rows = []
        for path, operations in self._paths.items():
            own = path.startswith(prefix) and not any(
                path.startswith(other) and len(other) > len(prefix) for other in longer
            )
            for method, operation in operations.items() if own else ():
                permission = f"`{operation[PERMISSION]}`" if PERMISSION in operation else ""
                rows.append([f"`{method.upper()} /api{path}`", _text(operation["summary"]), permission])
        return table(["operation", "", "permission"], rows)

    def _examples(self, endpoint: Endpoint, schema: Schema) -> Iterator[str]:
        written = self._schemas.get(f"{endpoint.schema_name}Request")
        if written is not None and "add" in endpoint.resource.writes:
            body = {name: self._example(written["properties"][name], name) for name in written.get("required", ())}
            yield from (f"`POST {endpoint.path}` with the required fields:", "", *_json(body))
        shown = {name: self._example(part, name) for name, part in schema["properties"].items() if name != "_etag"}
        yield from ("An object in an answer (the values are made up from the types):", "", *_json(shown))

    def _example(self, schema: Schema, name: str) -> Any:
        """A value that fits a schema."""
        if "$ref" in schema:
            target = self._schemas[schema["$ref"].rpartition("/")[2]]
            members = target.get("required", ())
            return {key: self._example(target["properties"][key], key) for key in members}
        for word in ("oneOf", "anyOf", "allOf"):
            if word in schema:
                return self._example(schema[word][0], name)
        if values := [value for value in schema.get("enum", ()) if value is not None]:
            return values[0]
        if schema.get("type") == "array":
            return [self._example(schema["items"], name)] if schema.get("items") else []
        if properties := schema.get("properties"):
            return {key: self._example(part, key) for key, part in properties.items()}
        if schema.get("type") == "integer":
            return schema.get("minimum", 1)
        if schema.get("type") in _SIMPLE:
            return _SIMPLE[schema["type"]]
        text = _TEXTS.get(schema.get("format", ""), {"status": "active", "value": "active"}.get(name, name))
        return text[: schema.get("maxLength")]


def _json(value: Any) -> list[str]:
    return ["```json", *json.dumps(value, indent=2, ensure_ascii=False).splitlines(), "```", ""]


def _text(text: str | None) -> str:
    """Text of a docstring as one paragraph of Markdown: roles of reStructuredText are code, HTML is escaped."""
    plain = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", (text or "").replace("``", "`"))
    outside = re.split(r"(`[^`]*`)", " ".join(plain.split()))
    return "".join(part if part.startswith("`") else part.replace("<", "&lt;").replace("*", "\\*") for part in outside)
