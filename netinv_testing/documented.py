"""Answers compared with the OpenAPI document: status, media type and body of each must be as it says for the
operation.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import jsonschema_rs
import orjson

from netinv_core.caches import BoundedCache
from netinv_core.http import sparse_fields, versions
from netinv_core.http.actions import ActionRoute
from netinv_core.http.list_formats import formats_of_packages
from netinv_openapi import documents

if TYPE_CHECKING:
    from netinv_core.registry import Registry

DESCRIBED = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
PREFIX = "/api"
# paths of documents and pages for people, which the document leaves out
OUTSIDE = ("/docs/", "/swagger")
Schema = dict[str, Any]


class Documented:
    """The documents of every version of a service, each made when an answer of its version is first compared."""

    def __init__(self, registry: Registry, actions: list[ActionRoute]) -> None:
        self._registry = registry
        self._actions = actions
        self._cache = BoundedCache[Any]("OpenAPI documents", 10_000)

    def check(self, method: str, url: str, response: Any) -> None:
        """Insists that an answer is one that the document describes; a path that it leaves out has no success."""
        parts = urlsplit(url)
        path = parts.path.removeprefix(PREFIX)
        if method not in DESCRIBED or not parts.path.startswith(f"{PREFIX}/") or path.startswith(OUTSIDE):
            return
        version, status = response.headers.get("API-Version", versions.DEFAULT), str(response.status_int)
        template = self._template(version, path) or path
        title = f"{method} {template} {status}, version {version},"
        answers = self.document(version)["paths"].get(template, {}).get(method.lower(), {}).get("responses", {})
        assert status in answers or status[0] != "2", f"{title} is not described, but {sorted(answers)}"
        answer = self._resolve(version, answers.get(status, answers.get("default")))
        if answer is not None and response.content_type != versions.HTML:
            query = parse_qs(parts.query)
            is_page = query.keys().isdisjoint(formats_of_packages(self._registry))
            is_sparse = sparse_fields.PARAMETER in query or template.endswith("/query/")
            content = answer.get("content", {})
            self._check_body(version, title, content, response, is_page=is_page, whole=not is_sparse)

    def _check_body(
        self, version: str, title: str, content: Schema, response: Any, *, is_page: bool, whole: bool
    ) -> None:
        if not content:
            assert not response.body, f"{title} has a body, and none is described"
            return
        media = response.content_type
        assert media in content or "*/*" in content, f"{title} is {media}, and {sorted(content)} are described"
        if media == versions.JSON and (is_page or "*/*" not in content):
            self._insist(version, title, content[media]["schema"], orjson.loads(response.body), whole=whole)

    def fits(self, version: str, name: str, value: Any) -> None:
        """Insists that a body is as the schema called ``name`` describes it; it may have further members."""
        self._insist(version, name, {"$ref": f"#/components/schemas/{name}"}, value, closed=False)

    def describes_body(self, version: str, method: str, path: str) -> bool:
        """True where the document describes the body of a request to a path below ``/api``."""
        return "requestBody" in self._operation(version, method, path)

    def takes(self, version: str, method: str, path: str, body: Any) -> None:
        """Insists that the body of a request is as the document describes it, with no further members."""
        content = self._operation(version, method, path)["requestBody"]["content"]
        self._insist(version, f"{method} {path}", content[versions.JSON]["schema"], body, whole=True)

    def _operation(self, version: str, method: str, path: str) -> Schema:
        template = self._template(version, urlsplit(path).path.removeprefix(PREFIX))
        assert template is not None, f"{path} is not described"
        operation: Schema = self.document(version)["paths"][template][method.lower()]
        return operation

    def _insist(
        self, version: str, title: str, schema: Schema, value: Any, *, closed: bool = True, whole: bool = True
    ) -> None:
        validator = self._validator(version, orjson.dumps(schema, option=orjson.OPT_SORT_KEYS), closed, whole)
        wrong = [
            f"{'.'.join(map(str, fault.instance_path))}: {_reason(fault)}" for fault in validator.iter_errors(value)
        ]
        assert not wrong, f"{title} is not as version {version} describes it: {wrong[:5]}"

    def _template(self, version: str, path: str) -> str | None:
        """The path of the document that a path is of; one without parameters goes before."""
        patterns = self._paths(version)
        if path in patterns:
            return path
        return next(
            (template for template, pattern in patterns.items() if "{" in template and pattern.fullmatch(path)), None
        )

    def document(self, version: str) -> dict[str, Any]:
        """The document of a version."""
        make = functools.partial(documents.document, self._registry, version, self._actions)
        document: dict[str, Any] = self._cache.get_or_make(version, make)
        return document

    def _paths(self, version: str) -> dict[str, re.Pattern[str]]:
        def make() -> dict[str, re.Pattern[str]]:
            paths = self.document(version)["paths"]
            return {path: re.compile(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path))) for path in paths}

        patterns: dict[str, re.Pattern[str]] = self._cache.get_or_make(("paths", version), make)
        return patterns

    def _resolve(self, version: str, answer: dict[str, Any] | None) -> dict[str, Any] | None:
        name = str((answer or {}).get("$ref", "")).rpartition("/")[2]
        return self.document(version)["components"]["responses"][name] if name else answer

    def _validator(self, version: str, text: bytes, closed: bool, whole: bool) -> jsonschema_rs.Validator:
        make = functools.partial(self._compile, version, text, closed, whole)
        validator: jsonschema_rs.Validator = self._cache.get_or_make((version, text, closed, whole), make)
        return validator

    def _compile(self, version: str, text: bytes, closed: bool, whole: bool) -> jsonschema_rs.Validator:
        """The validator of a schema, given as JSON: operations whose answers are alike share it."""
        schema, names = orjson.loads(text), dict[str, Schema]()
        _collect(self.document(version)["components"]["schemas"], schema, names)
        schemas = {name: as_json_schema(part, closed=closed, whole=whole) for name, part in names.items()}
        described = {**as_json_schema(schema, closed=closed, whole=whole), "components": {"schemas": schemas}}
        return jsonschema_rs.Draft7Validator(described, validate_formats=True)


def _reason(fault: Any) -> str:
    """The message of a fault; of a value that fits none of several schemas, what each has against it."""
    context = getattr(getattr(fault, "kind", None), "context", None)
    if not context:
        return str(fault.message)[:300]
    return " or ".join(
        ", ".join(f"{'.'.join(map(str, part.instance_path))}: {_reason(part)}" for part in branch) for branch in context
    )


def _collect(schemas: dict[str, Schema], part: Any, result: dict[str, Schema]) -> None:
    """Adds the named schemas that a part refers to, directly or not."""
    if isinstance(part, list):
        for item in part:
            _collect(schemas, item, result)
    elif isinstance(part, dict):
        name = str(part.get("$ref", "")).rpartition("/")[2]
        if name and name not in result:
            result[name] = schemas[name]
            _collect(schemas, schemas[name], result)
        for value in part.values():
            _collect(schemas, value, result)


def as_json_schema(part: Any, *, closed: bool, whole: bool = True) -> Any:
    """A schema of OpenAPI 3.0 as one of JSON Schema, which has no ``nullable``.

    An object of a ``closed`` schema has no members but those described. One that is not ``whole`` may lack any.
    """
    if isinstance(part, list):
        return [as_json_schema(item, closed=closed, whole=whole) for item in part]
    if not isinstance(part, dict):
        return part
    result: Schema = {}
    for name, value in part.items():
        if name == "properties":
            result[name] = {
                member: as_json_schema(schema, closed=closed, whole=whole) for member, schema in value.items()
            }
        elif name != "nullable" and (whole or name != "required"):
            result[name] = value if name == "enum" else as_json_schema(value, closed=closed, whole=whole)
    if closed and "properties" in result:
        result.setdefault("additionalProperties", False)
    return {"anyOf": [result, {"type": "null"}]} if part.get("nullable") is True else result
