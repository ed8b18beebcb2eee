"""Builds the HTTP message of a delivery from its change record, when it is sent.

The body holds the object as in API version 1.3, without opt-in members, and without counters for a new object. URLs of
the service have the base of the request that made the change.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import datetime
import hashlib
import hmac
import importlib.metadata
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote

from netinv_core import crypto
from netinv_core import fields as kinds
from netinv_core.caches import lru_cache
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.http import versions
from netinv_core.masking import SHORTEST, credential_name
from netinv_core.registry_cache import cached_in_registry
from netinv_extras import allowed_files
from netinv_extras.custom_fields.field import CustomFields
from netinv_extras.templates.sandbox import RenderError, RendererUnavailable, Rendering, limits_of, render
from netinv_extras.webhooks import headers as webhook_headers
from netinv_extras.webhooks.models import CA_FOLDERS
from netinv_outgoing.urls import split_url

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

Row = Mapping[str, Any]
Renderings = Mapping[str, Callable[[Any], Any]]  # functions of a member's value, by its name
NONE: Renderings = {}
VERSION = "1.3"
ENCODED = "whsec_"  # prefix of secrets that are keys in Base64 (Standard Webhooks)
EVENTS = {CREATE: "created", UPDATE: "updated", DELETE: "deleted"}
_LAST = ("created", "last_updated", "tags", "notes_url", "custom_fields")


class PayloadError(ValueError):
    """Failure to build a message because of its webhook; the text is the reason."""


class FinalError(PayloadError):
    """Failure that every further attempt would meet."""


class Postponed(Exception):
    """Temporary failure to build a message, such as no free renderer; the text is the reason."""


@dataclasses.dataclass(frozen=True)
class WebhookMessage:
    """HTTP request to a receiver. ``verify`` is that of ``requests``; ``secrets`` are texts to mask in logs and
    errors; ``timeout`` is the seconds for the whole exchange, where the webhook has a limit of its own.
    """

    method: str
    url: str
    headers: Mapping[str, bytes]
    body: bytes
    verify: bool | str
    secrets: tuple[str, ...]
    timeout: float | None = None


def build_message(
    registry: Registry, delivery: Row, webhook: Row, change: Row, at: datetime.datetime, renderings: Renderings = NONE
) -> WebhookMessage:
    """Builds the message for the next attempt of a delivery.

    :param at: time of the signature
    :param renderings: conversions for the label of the object (:func:`renderings_for`)
    :raises PayloadError: when a template fails or renders invalid headers, or a secret cannot be decrypted
    :raises Postponed: when no renderer is available
    """
    context = template_variables(registry, change, renderings)
    keys = _signing_secrets(registry, webhook)
    body, lines = _render(registry, webhook, context)
    headers = {"User-Agent": _user_agent().encode(), "Content-Type": webhook["http_content_type"].encode()}
    additional = _additional(lines)
    overridden = {name.lower() for name in additional}
    headers = {name: value for name, value in headers.items() if name.lower() not in overridden}
    headers |= {name: value.encode() for name, value in additional.items()}
    if webhook["body_template"]:
        check_json(headers, body)
    headers |= {name: value.encode() for name, value in _identification(delivery, keys, body, at).items()}
    url, secrets = webhook["payload_url"], _secrets(keys, webhook["payload_url"], additional)
    verify = _verification(registry, webhook)
    return WebhookMessage(webhook["http_method"], url, headers, body, verify, secrets, webhook["timeout"])


def _signing_secrets(registry: Registry, webhook: Row) -> tuple[str, str]:
    """The secret of a webhook and the second one, each empty where there is none.

    :raises PayloadError: when one cannot be decrypted
    """
    key = registry.settings["secret"]
    try:
        return crypto.decrypt(key, webhook["secret"]), crypto.decrypt(key, webhook["second_secret"])
    except ValueError as error:
        raise PayloadError(f"The webhook's secret cannot be read: {error}") from None


def _verification(registry: Registry, webhook: Row) -> bool | str:
    """Returns the path of a CA file, true for the authorities of the system, or false for no verification.

    :raises PayloadError: when the settings do not allow the file
    """
    if not webhook["ssl_verification"] or not webhook["ca_file_path"]:
        return bool(webhook["ssl_verification"])
    try:
        return str(allowed_files.resolve(webhook["ca_file_path"], registry.settings, CA_FOLDERS))
    except allowed_files.PathNotAllowed as error:
        raise PayloadError(str(error)) from None


@lru_cache("constants", 1)
def _user_agent() -> str:
    return f"netinv/{importlib.metadata.version('netinv-core')}"


# -- headers


def _render(registry: Registry, webhook: Row, context: dict[str, Any]) -> tuple[bytes, str]:
    """Renders body and additional headers of a webhook. Without a template the body is ``context`` as JSON.

    :raises PayloadError: when a template fails
    :raises Postponed: when no renderer is available
    """
    templates = {
        "body template": webhook["body_template"],
        "template of the additional headers": webhook["additional_headers"].strip(),
    }
    renderings = {
        name: Rendering(source, context, lines="headers" in name) for name, source in templates.items() if source
    }
    results = dict(
        zip(
            renderings,
            render(list(renderings.values()), limits_of(registry)) if renderings else (),
            strict=True,
        )
    )
    for name, result in results.items():
        if isinstance(result, RendererUnavailable):
            raise Postponed(str(result))
        if isinstance(result, RenderError):
            raise PayloadError(f"The {name} failed: {result}")
    body, lines = (results.get(name) for name in templates)
    return json.dumps(context).encode() if body is None else str(body).encode("utf-8", "replace"), str(lines or "")


def check_json(headers: Mapping[str, bytes], body: bytes) -> None:
    """Checks a rendered body whose media type is JSON.

    :raises PayloadError: for a body that is no JSON
    """
    declared = next((value for name, value in headers.items() if name.lower() == "content-type"), b"").decode()
    media_type = declared.partition(";")[0].strip().lower()
    if media_type != "application/json" and not media_type.endswith("+json"):
        return
    try:
        json.loads(body)
    except (ValueError, RecursionError) as error:
        reason = str(error).rstrip(".")
        raise PayloadError(f"The rendered body is not valid JSON, but is sent as {media_type}: {reason}.") from None


def _additional(text: str) -> dict[str, str]:
    """Parses additional headers.

    :raises PayloadError: for an invalid line, or a reserved header
    """
    try:
        return webhook_headers.parse(text) if text.strip() else {}
    except webhook_headers.HeaderError as error:
        raise PayloadError(str(error)) from None


def _identification(delivery: Row, secrets: tuple[str, str], body: bytes, at: datetime.datetime) -> dict[str, str]:
    """Headers that identify change, delivery and attempt, and, with a secret, the signatures of the body.

    ``webhook-…`` are those of Standard Webhooks 1.0, with a signature for each secret.
    """
    seconds, identity = str(int(at.timestamp())), str(delivery["id"])
    headers = {
        "X-Netinv-Event": str(delivery["change_id"]),
        "X-Netinv-Delivery": identity,
        "X-Netinv-Attempt": str(delivery["attempts"] + 1),
        "webhook-id": identity,
        "webhook-timestamp": seconds,
    }
    if secret := secrets[0]:
        key = secret.encode()
        signature = hmac.new(key, seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers["X-Hook-Signature"] = hmac.new(key, body, hashlib.sha512).hexdigest()
        headers["X-Netinv-Signature"] = f"t={seconds},v1={signature}"
    signed = f"{identity}.{seconds}.".encode() + body
    if signatures := [_standard_signature(secret, signed) for secret in secrets if secret]:
        headers["webhook-signature"] = " ".join(signatures)
    return headers


def _standard_signature(secret: str, signed: bytes) -> str:
    """Signature of Standard Webhooks. The key of ``whsec_…`` is what follows, in Base64; other secrets are keys as they
    are.
    """
    key = secret.encode()
    if secret.startswith(ENCODED):
        with contextlib.suppress(ValueError):
            key = base64.b64decode(secret.removeprefix(ENCODED), validate=True)
    return "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()


# -- secrets


def _secrets(keys: Iterable[str], url: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the credentials in a message with their encoded variants, longest first; short texts are not masked."""
    texts = {key for key in keys if len(key) >= SHORTEST}
    address = split_url(url)
    credentials = ("" if address is None else address.netloc).rpartition("@")[0]
    password = credentials.partition(":")[2] or credentials
    if len(password) >= SHORTEST:
        plain = unquote(credentials)
        texts |= {credentials, password, plain, unquote(password), base64.b64encode(plain.encode()).decode()}
    parameters = [*headers.items(), *parse_qsl("" if address is None else address.query)]
    for value in (value for name, value in parameters if credential_name(name)):
        token = value.rpartition(" ")[2]  # "Bearer …": the scheme is no secret
        texts |= {value, token} if len(token) >= SHORTEST else set()
    texts |= {variant for text in texts for variant in (json.dumps(text)[1:-1], quote(text, safe=""))}
    return tuple(sorted(texts, key=len, reverse=True))


# -- the context of templates, and default body


def renderings_for(uow: UnitOfWork, labels: Iterable[str]) -> dict[str, Renderings]:
    """Returns conversions to API version 1.3 by label and member, for members that depend on the configuration."""
    endpoints = {label: endpoint for label in labels if (endpoint := uow.registry.get(label)) is not None}
    return {
        label: {
            field.name: render
            for field in endpoint.versioned_fields
            if (render := field.downgrade(uow, VERSION)) is not None
        }
        for label, endpoint in endpoints.items()
    }


def template_variables(registry: Registry, change: Row, renderings: Renderings = NONE) -> dict[str, Any]:
    """Returns the variables of templates, which are also the default body, for a row of the change log."""
    endpoint = registry.get(change["changed_object_type"])
    before, after = change["before"], change["after"]
    before = before and _convert_stored(endpoint, before, renderings, new=False)
    after = after and _convert_stored(endpoint, after, renderings, new=change["action"] == CREATE)
    old, new = _jsonb(before), _jsonb(after)
    return {
        "event": EVENTS[change["action"]],
        "timestamp": str(change["time"]),
        "model": change["changed_object_type"].rpartition(".")[2],
        "username": change["user_name"],
        "request_id": str(change["request_id"]),
        **({"bypassed": bypassed} if (bypassed := change.get("bypassed")) else {}),
        "data": after or before,
        "snapshots": {"prechange": old, "postchange": new, "differences": _differences(old, new)},
    }


def _differences(old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any]:
    """Returns the members that differ between two snapshots, except ``last_updated``."""
    if not old or not new:
        return {"removed": old or None, "added": new or None}
    names = [name for name in _jsonb({**old, **new}) if name != "last_updated" and old.get(name) != new.get(name)]
    return {"removed": {name: old.get(name) for name in names}, "added": {name: new.get(name) for name in names}}


def _jsonb(value: Any) -> Any:
    """Sorts the members of all objects like PostgreSQL's JSONB: by length, then by bytes."""
    if isinstance(value, dict):
        return {name: _jsonb(value[name]) for name in sorted(value, key=_length_first)}
    return [_jsonb(item) for item in value] if isinstance(value, list) else value


def _length_first(name: str) -> tuple[int, bytes]:
    encoded = name.encode()
    return len(encoded), encoded


# -- conversion of stored representations


@dataclasses.dataclass(frozen=True)
class PayloadLayout:
    """Layout of an endpoint's objects in a message: order of members, counters, members that are copied unchanged, and
    statuses.
    """

    order: tuple[str, ...]
    counters: frozenset[str]
    as_they_are: frozenset[str]
    statuses: frozenset[str]

    def statuses_of(self, stored: Row) -> dict[str, Any]:
        """The statuses of a stored representation, by member."""
        return {name: stored[name] for name in self.statuses if name in stored}


@cached_in_registry
def _layout(endpoint: Endpoint) -> PayloadLayout:
    asked_for = endpoint.opt_in | endpoint.costly
    fields = {name: field for name, field in endpoint.fields.items() if not (name in asked_for or field.write_only)}
    counters = [name for name, field in fields.items() if isinstance(field, kinds.Count)]
    first = [name for name in fields if name not in counters and name not in _LAST]
    last = [name for name in _LAST if name in fields]
    return PayloadLayout(
        order=(*first, *sorted(counters), *last),
        statuses=frozenset(name for name, field in fields.items() if isinstance(field, kinds.Status)),
        counters=frozenset(name for name in counters if fields[name].nested == "absent"),
        as_they_are=frozenset(
            name
            for name, field in fields.items()
            if isinstance(field, CustomFields) or (isinstance(field, kinds.Value) and field.info.kind == "json")
        ),
    )


def _convert_stored(
    endpoint: Endpoint | None, stored: dict[str, Any], renderings: Renderings, *, new: bool
) -> dict[str, Any]:
    """Converts a stored representation to the form of the body; unchanged if its package is not installed."""
    if endpoint is None:
        return stored
    layout = _layout(endpoint)
    # Receivers see statuses of models that have one only since a later version, such as interfaces.
    downgraded = {**layout.statuses_of(stored), **versions.downgrade(endpoint, VERSION, stored)}
    members = {}
    for name in layout.order:
        if name not in downgraded or (new and name in layout.counters):
            continue
        value = renderings[name](downgraded[name]) if name in renderings else downgraded[name]
        if name == "custom_fields" and isinstance(value, dict):
            value = dict(sorted(value.items()))
        elif isinstance(value, dict | list) and name not in layout.as_they_are:
            value = _order_members(endpoint.registry, value)
        members[name] = value
    return members


def _order_members(registry: Registry, value: Any) -> Any:
    """Orders the members of nested objects by their brief form; choices have the value first."""
    if isinstance(value, list):
        return [_order_members(registry, item) for item in value]
    if not isinstance(value, dict):
        return value
    url = value.get("url")
    if not isinstance(url, str):
        return {"value": value["value"], "label": value["label"]} if value.keys() == {"value", "label"} else value
    names = {**dict.fromkeys(_brief(registry, url)), **value}
    return {name: _order_members(registry, value[name]) for name in names if name in value}


def _brief(registry: Registry, url: str) -> list[str]:
    """Returns the members of the brief form of the object at a URL, in order."""
    steps = url.split("/")
    endpoint = registry.by_path.get((steps[-4], steps[-3])) if len(steps) > 4 else None
    return [field.name for field in endpoint.brief] if endpoint is not None else []
