"""Views of the documentation: the OpenAPI document of each version, and an interactive page.

All of them answer without a token, from memory and local files: they use neither the database nor another host.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import secrets
import threading
from pathlib import Path
from typing import Any

import jinja2
import orjson
from pyramid.request import Request
from pyramid.response import Response
from pyramid.security import NO_PERMISSION_REQUIRED

from netinv_core.caches import BoundedCache
from netinv_core.errors import NotAllowed, NotFound
from netinv_core.http import actions, negotiation, versions
from netinv_core.http.mount import mount_of
from netinv_core.http.serialization import query_of, single_value
from netinv_openapi import documents

JSON, YAML = versions.JSON, "application/vnd.oai.openapi; charset=utf-8"
ALLOW = "GET, HEAD"
ASSETS = "api/docs/assets"
# Swagger UI inserts styles into the page. The inline script of the page has a nonce.
POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_FORMATS = {"openapi": JSON, "json": JSON, "yaml": YAML}
_PAGE = jinja2.Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>netinv API</title>
<link rel="stylesheet" href="assets/swagger-ui.css"><link rel="icon" href="assets/favicon-32x32.png">
<style>body { margin: 0 } .topbar .link { visibility: hidden }</style></head>
<body><div id="documentation"></div>
<script src="assets/swagger-ui-bundle.js"></script><script src="assets/swagger-ui-standalone-preset.js"></script>
<script nonce="{{ nonce }}">
const version = () => new URL(page.specSelectors.url(), location).searchParams.get("api_version");
function addVersion(request) {  // Try it out uses the version of the document
  const given = request.loadSpec || request.url.includes("api_version=");
  if (!given) request.headers.Accept = `application/json; version=${version()}`;
  return request;
}
const page = SwaggerUIBundle({
  urls: {{ documents|tojson }}, "urls.primaryName": {{ chosen|tojson }},
  dom_id: "#documentation", layout: "StandaloneLayout",
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset], docExpansion: "none", defaultModelsExpandDepth: 0,
  deepLinking: true, filter: true, persistAuthorization: true, validatorUrl: null, requestInterceptor: addVersion,
});
</script></body></html>
""")


MAX_DOCUMENT_BYTES = 8 << 20  # of the documents of versions, media types and mount points, compressed


class Documents:
    """Cache of the rendered documents of a service, compressed: each is rendered at its first request."""

    def __init__(self) -> None:
        self._documents = BoundedCache[bytes]("OpenAPI documents", MAX_DOCUMENT_BYTES, len)
        self._lock = threading.Lock()

    def get(self, registry: Any, version: str, media: str, mount: str) -> bytes:
        """Returns the document of a version in a media type, compressed with gzip, for a service at a mount point."""

        def make() -> bytes:
            document = documents.document(registry.netinv, version, actions.actions_of(registry), mount)
            return gzip.compress(render(document, media), mtime=0)

        with self._lock:
            return self._documents.get_or_make((version, media, mount), make)


def render(document: dict[str, Any], media: str) -> bytes:
    """Serializes a document as JSON or YAML."""
    text = orjson.dumps(document)
    if media == JSON:
        return text
    import yaml  # local import: few ask for this format

    copy = orjson.loads(text)  # parts shared in memory would become YAML aliases
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    content: bytes = yaml.dump(copy, Dumper=dumper, sort_keys=False, allow_unicode=True, encoding="utf-8")
    return content


def _version(request: Request) -> str:
    """Returns the requested version; the Accept header may name it with any media type."""
    if request.method not in ALLOW:
        raise NotAllowed(request.method, ALLOW)
    header_versions = [
        version for _, _, version in negotiation.media_ranges(request.headers.get("Accept", "")) if version
    ]
    return negotiation.chosen_version(header_versions[0] if header_versions else None, query_of(request))


def _answer(request: Request, media: str) -> Response:
    version = _version(request)
    body = request.registry.netinv_documents.get(request.registry, version, media, mount_of(request.environ))
    response = Response(conditional_response=True)
    response.headers["Content-Type"] = media
    # no header would permit gzip, but a client without one may not decode it
    if "Accept-Encoding" in request.headers and request.accept_encoding.acceptable_offers(["gzip"]):
        response.content_encoding = "gzip"
    else:
        body = gzip.decompress(body)
    response.body = body
    response.etag = hashlib.sha256(body).hexdigest()[:32]
    response.cache_control = "no-cache"
    response.headers.update({"API-Version": version, "Allow": ALLOW, "Vary": "Accept, Accept-Encoding"})
    return response


def as_json(request: Request) -> Response:
    """The OpenAPI document as JSON."""
    return _answer(request, JSON)


def as_yaml(request: Request) -> Response:
    """The OpenAPI document as YAML."""
    return _answer(request, YAML)


def page(request: Request) -> Response:
    """The interactive documentation; with ``format`` (``openapi``, ``json``, ``yaml``) the document itself.

    :raises NotFound: for another format
    """
    format_name = single_value(query_of(request), "format")
    if format_name:
        if format_name not in _FORMATS:
            raise NotFound()
        return _answer(request, _FORMATS[format_name])
    version = _version(request)
    offered = [{"name": f"version {name}", "url": f"../swagger.json?api_version={name}"} for name in versions.SUPPORTED]
    nonce = secrets.token_urlsafe(16)
    html = _PAGE.render(documents=offered, chosen=f"version {version}", nonce=nonce)
    response = Response(body=html.encode(), content_type=versions.HTML, charset="utf-8")
    headers = {"API-Version": version, "Allow": ALLOW, "Vary": "Accept"}
    response.headers.update({**headers, "Content-Security-Policy": POLICY.format(nonce=nonce)})
    return response


def assets() -> Path:
    """Returns the folder of the files of Swagger UI, without importing their package and its framework adapters."""
    spec = importlib.util.find_spec("swagger_ui")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package swagger-ui-py is not installed; the documentation needs its files")
    return Path(spec.submodule_search_locations[0]) / "static"


def includeme(config: Any) -> None:
    """Adds the routes."""
    config.registry.netinv_documents = Documents()
    for path, view in (
        ("/api/swagger.json", as_json),
        ("/api/swagger.yaml", as_yaml),
        ("/api/swagger/", as_yaml),
        ("/api/docs/", page),
    ):
        config.add_route(f"documents {path}", path)
        config.add_view(view, route_name=f"documents {path}", permission=NO_PERMISSION_REQUIRED)
    config.add_static_view(ASSETS, str(assets()), cache_max_age=86400, request_method=("GET", "HEAD"))
