"""Forms of *as code*: how programs read what a page shows, with its filters. The token is a placeholder."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import pass_context
from jinja2.runtime import Context
from pyramid.request import Request

from netinv_core.hookspecs import hookimpl
from netinv_web.extensions import Snippet, call_of_extension, extensions_of
from netinv_web.failures import log_failure
from netinv_web.lists.list_query import query_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

PLACEHOLDER = "your-token"
Parameters = Sequence[tuple[str, Sequence[str]]]


def curl(request: Request, endpoint: Endpoint, parameters: Parameters, key: Any) -> str:
    """A command line with curl."""
    query = urlencode([(name, value) for name, values in parameters for value in values])
    path = endpoint.path if key is None else f"{endpoint.canonical_path}{key}/"
    url = f"{request.uow.base}{path}{'?' if query else ''}{query}"
    return f"curl -H 'Authorization: Token {PLACEHOLDER}' \\\n  -H 'Accept: application/json' \\\n  {shlex.quote(url)}"


def pynautobot(request: Request, endpoint: Endpoint, parameters: Parameters, key: Any) -> str:
    """Lines of Python with the client library pynautobot."""
    app, name = (part.replace("-", "_") for part in endpoint.path.removeprefix("/api/").rstrip("/").rsplit("/", 1))
    app = app.replace("/", ".")
    filters = json.dumps({name: list(values) for name, values in parameters}, ensure_ascii=True)
    call = f"get({json.dumps(str(key))})" if key is not None else f"filter(**{filters})" if parameters else "all()"
    opening = f"nautobot = pynautobot.api({json.dumps(request.uow.base)}, token={json.dumps(PLACEHOLDER)})"
    return f"import pynautobot\n\n{opening}\nresult = nautobot.{app}.{name}.{call}"


def ansible(request: Request, endpoint: Endpoint, parameters: Parameters, key: Any) -> str:
    """A task of Ansible with the lookup of the collection networktocode.nautobot."""
    pairs = (
        [("id", str(key))] if key is not None else [(name, value) for name, values in parameters for value in values]
    )
    name = endpoint.path.rstrip("/").rsplit("/", 1)[-1]
    arguments = {"api_endpoint": request.uow.base, "token": PLACEHOLDER}
    if pairs:
        arguments["api_filter"] = " ".join(f"{name}={json.dumps(value)}" for name, value in pairs)
    options = ", ".join(f"{option}={json.dumps(value)}" for option, value in arguments.items())
    lookup = f"{{{{ query('networktocode.nautobot.lookup', {json.dumps(name)}, {options}) }}}}"
    return f"- ansible.builtin.debug:\n    msg: {json.dumps(lookup)}"


SNIPPETS = (
    Snippet("curl", "curl", curl, "shell", position=100),
    Snippet("pynautobot", "pynautobot", pynautobot, "python", position=200),
    Snippet("ansible", "Ansible", ansible, "yaml", position=300),
)


def _code_of(snippet: Snippet, endpoint: Endpoint, parameters: Parameters, key: Any, request: Request) -> str:
    """The code of a snippet for a list with parameters, or for the object of a key."""
    return str(snippet.code(request, endpoint, parameters, key))


@pass_context
def as_code(
    context: Context, endpoint: Endpoint, key: Any = None, scope: Parameters = ()
) -> list[tuple[str, str, str]]:
    """Template function: name, title and text of each form of *as code*. One that fails is logged and left out.

    ``scope`` are filters of a list beside those of the request.
    """
    request = context["request"]
    registry = request.registry.netinv
    parameters = [] if key is not None else [*scope, *query_of(request).filters]
    forms = []
    for snippet in extensions_of(registry.hooks.netinv_web_snippets, registry=registry):
        try:
            code_of = functools.partial(_code_of, snippet, endpoint, parameters, key)
            code = call_of_extension(request, snippet, "code", code_of)
            forms.append((snippet.name, snippet.title, code))
        except Exception:
            log_failure(registry, "the snippet %r failed on %s", snippet.name, request.path)
    return forms


@hookimpl
def netinv_web_snippets() -> Sequence[Snippet]:
    """Forms of *as code* with the REST API."""
    return SNIPPETS
