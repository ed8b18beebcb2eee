"""The message of a delivery: made, when it is sent, from the change record, in the form that receivers of the reference service know.

The body holds the object as API version 1.3 shows it to nobody in particular: without the members that a request must ask for, and without
counters while the object is new. URLs of the service begin as those in the answer to the request that made the change did.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import functools
import hashlib
import hmac
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from netinv_core import fields as kinds
from netinv_core.auth import crypto
from netinv_core.changelog.masking import SHORTEST, credential_name
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.endpoint import Endpoint
from netinv_core.http import versions
from netinv_core.registry import Registry
from netinv_core.uow import UnitOfWork
from netinv_extras import allowed_files
from netinv_extras.custom_fields.field import CustomFields
from netinv_extras.templates.sandbox import Limits, RenderError, RendererUnavailable, Rendering, render
from netinv_extras.webhooks import headers as webhook_headers
from netinv_extras.webhooks.models import CA_FOLDERS

Row = Mapping[str, Any]
Renderings = Mapping[str, Callable[[Any], Any]]  # functions of a member's value, by its name
NONE: Renderings = {}
VERSION = "1.3"
EVENTS = {CREATE: "created", UPDATE: "updated", DELETE: "deleted"}
_LAST = ("created", "last_updated", "tags", "notes_url", "custom_fields")

class PayloadError(ValueError):
    """A message that could not be made, and why."""


class Postponed(Exception):
    """A message that cannot be made now, through no fault of its webhook, and why."""


@dataclasses.dataclass(frozen=True)
class Message:
    """One HTTP request. ``verify`` is as ``requests`` takes it; ``secrets`` are texts to mask in whatever is said of it."""

    method: str
    url: str
    headers: Mapping[str, bytes]
    body: bytes
    verify: bool | str
    secrets: tuple[str, ...]


def build_message(registry: Registry, delivery: Row, webhook: Row, change: Row, at: datetime.datetime, renderings: Renderings = NONE) -> Message:
    """The message of a delivery (a row), at its next attempt, ``at`` which it is signed; ``renderings`` are those of the object's label.

    :raises Unmade: when a template of the webhook fails or makes headers that are none, or its secret cannot be unsealed
    """
    context = template_variables(registry, change, renderings)
    try:
        secret = crypto.decrypt(registry.settings["secret"], webhook["secret"])
    except ValueError as error:
        raise PayloadError(f"The webhook's secret cannot be read: {error}") from None
    body, lines = _rendered(registry, webhook, context)
    headers = {"User-Agent": _user_agent().encode(), "Content-Type": webhook["http_content_type"].encode()}
    own = _additional(lines)
    headers = {name: value for name, value in headers.items() if name.lower() not in {other.lower() for other in own}}
    headers |= {name: value.encode() for name, value in own.items()}
    headers |= {name: value.encode() for name, value in _identification(delivery, secret, body, at).items()}
    hidden = _secrets(secret, webhook["payload_url"], own)
    return Message(webhook["http_method"], webhook["payload_url"], headers, body, _verification(registry, webhook), hidden)


def _verification(registry: Registry, webhook: Row) -> bool | str:
    """Against what the receiver's certificate is verified: the file of authorities, else the system's (true); false for nothing.

    :raises Unmade: when the file is one that the settings do not allow, or no longer do
    """
    if not webhook["ssl_verification"] or not webhook["ca_file_path"]:
        return bool(webhook["ssl_verification"])
    try:
        return str(allowed_files.resolve(webhook["ca_file_path"], registry.settings, CA_FOLDERS))
    except allowed_files.NotAllowed as error:
        raise PayloadError(str(error)) from None


@functools.cache
def _user_agent() -> str:
    return f"netinv/{importlib.metadata.version('netinv-core')}"


# -- headers


def _rendered(registry: Registry, webhook: Row, context: dict[str, Any]) -> tuple[bytes, str]:
    """The rendered templates of a webhook: the body, which is the context where there is no template, and the lines of its own headers.

    :raises Unmade: when one fails
    :raises Postponed: when they cannot be rendered now
    """
    templates = {"body template": webhook["body_template"], "template of the additional headers": webhook["additional_headers"].strip()}
    renderings = {name: Rendering(source, context, lines="headers" in name) for name, source in templates.items() if source}
    results = dict(zip(renderings, render(list(renderings.values()), Limits.of(registry.settings)) if renderings else (), strict=True))
    for name, result in results.items():
        if isinstance(result, RendererUnavailable):
            raise Postponed(str(result))
        if isinstance(result, RenderError):
            raise PayloadError(f"The {name} failed: {result}")
    body, lines = (results.get(name) for name in templates)
    return json.dumps(context).encode() if body is None else str(body).encode("utf-8", "replace"), str(lines or "")


def _additional(text: str) -> dict[str, str]:
    """The headers that the webhook adds, from their lines.

    :raises Unmade: for a line that is no header, or a header that is reserved
    """
    try:
        return webhook_headers.parse(text) if text.strip() else {}
    except webhook_headers.HeaderError as error:
        raise PayloadError(str(error)) from None


def _identification(delivery: Row, secret: str, body: bytes, at: datetime.datetime) -> dict[str, str]:
    """Which change, which delivery, which attempt; and, with a secret, that it comes from here and when."""
    found = {
        "X-Netinv-Event": str(delivery["change_id"]),
        "X-Netinv-Delivery": str(delivery["id"]),
        "X-Netinv-Attempt": str(delivery["attempts"] + 1),
    }
    if secret:
        key, seconds = secret.encode(), str(int(at.timestamp()))
        signature = hmac.new(key, seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
        found["X-Hook-Signature"] = hmac.new(key, body, hashlib.sha512).hexdigest()
        found["X-Netinv-Signature"] = f"t={seconds},v1={signature}"
    return found


# -- secrets


def _secrets(secret: str, url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The credentials in a message, in the forms that a receiver may repeat them in, longest first; short ones are left out (see masking)."""
    found = {secret} if len(secret) >= SHORTEST else set()
    address = urlsplit(url)
    credentials = address.netloc.rpartition("@")[0]
    password = credentials.partition(":")[2] or credentials
    if len(password) >= SHORTEST:
        plain = unquote(credentials)
        found |= {credentials, password, plain, unquote(password), base64.b64encode(plain.encode()).decode()}
    named = [*headers.items(), *parse_qsl(address.query)]
    for value in (value for name, value in named if credential_name(name)):
        token = value.rpartition(" ")[2]  # "Bearer …": the scheme is no secret
        found |= {value, token} if len(token) >= SHORTEST else set()
    found |= {variant for text in found for variant in (json.dumps(text)[1:-1], quote(text, safe=""))}
    return tuple(sorted(found, key=len, reverse=True))


# -- the context of templates, and default body


def renderings_for(uow: UnitOfWork, labels: Iterable[str]) -> dict[str, Renderings]:
    """By label, what becomes of members whose older form depends on the configuration, such as custom fields."""
    endpoints = {label: endpoint for label in labels if (endpoint := uow.registry.get(label)) is not None}
    return {
        label: {field.name: render for field in endpoint.versioned_fields if (render := field.downgrade(uow, VERSION)) is not None}
        for label, endpoint in endpoints.items()
    }


def template_variables(registry: Registry, change: Row, renderings: Renderings = NONE) -> dict[str, Any]:
    """What templates may use, and what the body is without one; from a row of the change log."""
    endpoint = registry.get(change["changed_object_type"])
    before, after = change["before"], change["after"]
    before = before and _shown(endpoint, before, renderings, new=False)
    after = after and _shown(endpoint, after, renderings, new=change["action"] == CREATE)
    old, new = _jsonb(before), _jsonb(after)
    return {
        "event": EVENTS[change["action"]],
        "timestamp": str(change["time"]),
        "model": change["changed_object_type"].rpartition(".")[2],
        "username": change["user_name"],
        "request_id": str(change["request_id"]),
        "data": after or before,
        "snapshots": {"prechange": old, "postchange": new, "differences": _differences(old, new)},
    }


def _differences(old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any]:
    """What each of two states has that the other has not; of two that are there, when they were written does not count."""
    if not old or not new:
        return {"removed": old or None, "added": new or None}
    names = [name for name in _jsonb({**old, **new}) if name != "last_updated" and old.get(name) != new.get(name)]
    return {"removed": {name: old.get(name) for name in names}, "added": {name: new.get(name) for name in names}}


def _jsonb(value: Any) -> Any:
    """A value as the snapshots have it: the names of every object by length, then by bytes."""
    if isinstance(value, dict):
        return {name: _jsonb(value[name]) for name in sorted(value, key=_length_first)}
    return [_jsonb(item) for item in value] if isinstance(value, list) else value


def _length_first(name: str) -> tuple[int, bytes]:
    encoded = name.encode()
    return len(encoded), encoded


# -- a stored representation as the body has it


@dataclasses.dataclass(frozen=True)
class Layout:
    """How the representations of an endpoint are laid out in a message: the members, and those of them with a treatment of their own."""

    order: tuple[str, ...]
    counters: frozenset[str]
    as_they_are: frozenset[str]


@functools.lru_cache(maxsize=1024)
def _layout(endpoint: Endpoint) -> Layout:
    asked_for = endpoint.opt_in | endpoint.costly
    fields = {name: field for name, field in endpoint.fields.items() if not (name in asked_for or field.write_only)}
    counters = [name for name, field in fields.items() if isinstance(field, kinds.Count)]
    own = [name for name in fields if name not in counters and name not in _LAST]
    last = [name for name in _LAST if name in fields]
    return Layout(
        order=(*own, *sorted(counters), *last),
        counters=frozenset(name for name in counters if fields[name].nested == "absent"),
        as_they_are=frozenset(
            name for name, field in fields.items() if isinstance(field, CustomFields) or (isinstance(field, kinds.Value) and field.known.kind == "json")
        ),
    )


def _shown(endpoint: Endpoint | None, stored: dict[str, Any], renderings: Renderings, *, new: bool) -> dict[str, Any]:
    """A stored representation in the form and order of the body; as it is when its package is gone."""
    if endpoint is None:
        return stored
    layout = _layout(endpoint)
    shown = versions.downgrade(endpoint, VERSION, stored)
    found = {}
    for name in layout.order:
        if name not in shown or (new and name in layout.counters):
            continue
        value = renderings[name](shown[name]) if name in renderings else shown[name]
        if name == "custom_fields" and isinstance(value, dict):
            value = dict(sorted(value.items()))
        elif isinstance(value, dict | list) and name not in layout.as_they_are:
            value = _nested(endpoint.registry, value)
        found[name] = value
    return found


def _nested(registry: Registry, value: Any) -> Any:
    """The members of a representation: nested ones with their members in order, choices with the value first."""
    if isinstance(value, list):
        return [_nested(registry, item) for item in value]
    if not isinstance(value, dict):
        return value
    url = value.get("url")
    if not isinstance(url, str):
        return {"value": value["value"], "label": value["label"]} if value.keys() == {"value", "label"} else value
    names = {**dict.fromkeys(_brief(registry, url)), **value}
    return {name: _nested(registry, value[name]) for name in names if name in value}


def _brief(registry: Registry, url: str) -> list[str]:
    """The members of the nested form of what is at a URL, in order."""
    steps = url.split("/")
    endpoint = registry.by_path.get((steps[-4], steps[-3])) if len(steps) > 4 else None
    return [field.name for field in endpoint.brief] if endpoint is not None else []
