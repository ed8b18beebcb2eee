"""Webhooks: receivers of changes, with URL, message templates and retry policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.auth.configuration_version import lock_configuration
from netinv_core.masking import MASK, credential_name
from netinv_core.models.associations import content_type_table
from netinv_core.models.base import Organizational, table_of
from netinv_core.models.columns import (
    Choices,
    boolean,
    choice,
    encrypted_text,
    integer,
    optional_text,
    required_text,
    text,
)
from netinv_core.presentation import Presentation
from netinv_core.resource import Resource, content_type_list
from netinv_core.tasks import queue as task_queue
from netinv_core.write.draft import ALL
from netinv_extras import allowed_files, change_conditions
from netinv_extras.content_types import name_of
from netinv_extras.templates import sandbox
from netinv_extras.webhooks import headers as webhook_headers
from netinv_outgoing.urls import split_url

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

DELIVER = "deliver"  # name of the worker's task that sends queued deliveries
METHODS = Choices.of(*((name, name) for name in ("GET", "POST", "PUT", "PATCH", "DELETE")))
MAX_RETRY_AFTER_SECONDS = 7 * 24 * 3600
MAX_RETRIES = 20
EVENTS = {"type_create": "create", "type_update": "update", "type_delete": "delete"}
SCHEMES = ("http", "https")
CA_FOLDERS = "webhook_ca_folders"
NO_CREDENTIALS = "Credentials do not belong in the URL: give them as an additional header."
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_PARAMETER = re.compile(r"([?&])([^=&#]*)=[^&#]*")
_USERINFO = re.compile(r"(?<=://)[^/?#]*@")


def mask_url(url: Any) -> Any:
    """Masks the credentials of a URL: its user information, and query parameters with a credential's name."""
    if not isinstance(url, str):
        return url
    plain = _USERINFO.sub(f"{MASK}@", url)
    return _PARAMETER.sub(
        lambda match: f"{match[1]}{match[2]}={MASK}" if credential_name(match[2]) else match[0], plain
    )


class Webhook(Organizational):
    """A receiver of the changes of objects of certain content types.

    A failed message is sent again ``retries`` times: after ``retry_after`` seconds, doubled for each further attempt.
    """

    __tablename__ = "extras_webhook"

    name: Mapped[str] = required_text(150, unique=True)
    type_create: Mapped[bool] = boolean(False, "Call this webhook when a matching object is created.")
    type_update: Mapped[bool] = boolean(False, "Call this webhook when a matching object is updated.")
    type_delete: Mapped[bool] = boolean(False, "Call this webhook when a matching object is deleted.")
    payload_url: Mapped[str] = required_text(
        500, "A POST will be sent to this URL when the webhook is called.", label="URL", masked=mask_url
    )
    enabled: Mapped[bool] = boolean(True, "A webhook that is not enabled is told of nothing that happens meanwhile.")
    paused: Mapped[bool] = boolean(False, "Deliveries of a paused webhook wait until it is resumed; none is lost.")
    pause_reason: Mapped[str] = text(200, "Why it is paused, such as an answer 410 Gone. Empty once it is resumed.")
    http_method: Mapped[str] = choice(METHODS, 30, default="POST", plain=True, blank=False, label="HTTP method")
    http_content_type: Mapped[str] = required_text(100, default="application/json", label="HTTP content type")
    additional_headers: Mapped[str] = text(None, masked=webhook_headers.mask)
    body_template: Mapped[str] = text(None)
    secret: Mapped[str] = encrypted_text(255)
    second_secret: Mapped[str] = encrypted_text(
        255, "Signs webhook-signature too, while receivers change from one secret to the other."
    )
    ssl_verification: Mapped[bool] = boolean(
        True, "Enable SSL certificate verification. Disable with caution!", label="SSL verification"
    )
    ca_file_path: Mapped[str | None] = optional_text(4096, label="CA File Path")
    timeout: Mapped[int | None] = integer(
        1,
        3600,
        default=None,
        help="Seconds until the answer must be there. At most, and if empty, netinv.webhook_total_timeout.",
    )
    retries: Mapped[int] = integer(
        0,
        MAX_RETRIES,
        default=0,
        help="How often a message that failed is sent again. 12, the first after 60 seconds, are almost three days.",
    )
    retry_after: Mapped[int] = integer(
        1,
        MAX_RETRY_AFTER_SECONDS,
        default=60,
        help="Seconds until it is sent again for the first time; twice as many each further time.",
    )
    conditions: Mapped[Any | None] = change_conditions.column()


webhook_types = content_type_table("extras_webhook_type", "extras_webhook")


def is_recorded(registry: Registry, label: str) -> bool:
    """True for models whose changes are recorded, and for models of packages that are not installed."""
    endpoint = registry.get(label)
    return endpoint is None or endpoint.resource.recorded


webhooks = Resource(
    Webhook,
    "webhooks",
    search=["name", "payload_url"],
    fields=[content_type_list("content_types", webhook_types, required=True, allowed=is_recorded)],
    omit=["custom_fields", "computed_fields", "relationships"],
    configuration=True,
    example={
        "content_types": ["extras.secret"],
        "type_create": True,
        "payload_url": lambda number: f"https://receiver.example.com/{number}",
    },
    exempt_by_name_only=True,
    presentation=Presentation(
        columns=["content_types", "payload_url", "http_method", "type_create", "type_update", "type_delete", "enabled"],
        fieldsets=[
            ("Webhook", ["name", "enabled", "paused", "pause_reason"]),
            ("Changes", ["content_types", *EVENTS, "conditions"]),
            ("Message", ["payload_url", "http_method", "http_content_type", "additional_headers", "body_template"]),
            ("Signatures", ["secret", "second_secret"]),
            ("Delivery", ["ssl_verification", "ca_file_path", "timeout", "retries", "retry_after"]),
        ],
    ),
)


@webhooks.prepare
def resumed_webhooks_have_no_reason(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Empties the reason of webhooks that are not paused."""
    for draft in drafts:
        if not draft["paused"]:
            draft.values["pause_reason"] = ""


@webhooks.after_save
def resume_deliveries(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Notifies the worker of webhooks that are no longer paused."""
    if any(not draft.new and draft.changed("paused") and not draft["paused"] for draft in drafts):
        task_queue.notify_worker(uow, DELIVER)


@webhooks.rule
def has_an_event(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects webhooks without any event."""
    for draft in drafts:
        if not any(draft[name] for name in EVENTS):
            draft.reject(ALL, "You must select at least one type: create, update, and/or delete.")


@webhooks.rule
def verifies_against_one_authority(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects CA files without certificate verification, and those outside the folders that the settings allow."""
    for draft in drafts:
        if draft["ca_file_path"] and not draft["ssl_verification"]:
            draft.reject("ca_file_path", "Do not specify a CA certificate file if SSL verification is disabled.")
        elif draft["ca_file_path"] and draft.changed("ca_file_path"):
            try:
                allowed_files.resolve(draft["ca_file_path"], uow.registry.settings, CA_FOLDERS)
            except allowed_files.PathNotAllowed as error:
                draft.reject("ca_file_path", str(error))


webhooks.rule(sandbox.rule("body_template", lines=["additional_headers"]))
webhooks.rule(change_conditions.rule(webhook_types))


@webhooks.rule
def url_and_headers_are_valid(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects URLs other than absolute HTTP URLs without credentials, and invalid or reserved headers."""
    for draft in drafts:
        if draft.changed("payload_url") and (reason := url_fault(draft["payload_url"])):
            draft.reject("payload_url", reason)
        if draft.changed("http_content_type") and not draft["http_content_type"].isprintable():
            draft.reject("http_content_type", "Control characters are not allowed.")
        if draft.changed("additional_headers") and (reason := _headers_fault(draft["additional_headers"])):
            draft.reject("additional_headers", reason)


def _headers_fault(source: str) -> str | None:
    if _CONTROL.search(source):
        return "Control characters are not allowed."
    try:
        webhook_headers.check_template(source)
    except webhook_headers.HeaderError as error:
        return str(error)
    return None


def url_fault(url: str) -> str | None:
    """Returns the error text for an invalid URL of a receiver, or ``None``."""
    if not url.isprintable():
        return "Control characters are not allowed."
    parts = split_url(url)
    if parts is None or parts.scheme not in SCHEMES or not parts.hostname or " " in url or "\\" in url:
        return "Enter a valid URL, starting with http:// or https://."
    return NO_CREDENTIALS if "@" in parts.netloc else None


@webhooks.rule
def subscriptions_are_unique(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects webhooks with the URL, content type and event of another one. A lock serialises concurrent writes."""
    changed = [
        draft for draft in drafts if draft.new or "content_types" in draft.many or draft.changed("payload_url", *EVENTS)
    ]
    if not changed:
        return
    lock_configuration(uow)
    unsent = [draft.id for draft in changed if "content_types" not in draft.many]
    stored = change_conditions.labels_of(uow, webhook_types, unsent)
    urls, keys = {draft["payload_url"] for draft in changed}, [draft.id for draft in changed]
    existing = set(_subscriptions(uow, urls, excluded=keys))
    for draft in changed:
        url = draft["payload_url"]
        for label in draft.many.get("content_types", stored.get(draft.id, [])):
            for name, event in EVENTS.items():
                if draft[name] and (url, label, name) in existing:
                    title = name_of(uow.registry, label)
                    draft.reject(name, f"A webhook already exists for {event} on {title} to URL {url}")
                elif draft[name]:
                    existing.add((url, label, name))


def _subscriptions(uow: UnitOfWork, urls: set[str], excluded: list[Any]) -> Iterator[tuple[str, str, str]]:
    """Yields URL, content type and event of the webhooks of some URLs."""
    table = table_of(Webhook)
    statement = (
        sa.select(table.c.id, table.c.payload_url, webhook_types.c.label, *(table.c[name] for name in EVENTS))
        .join_from(table, webhook_types, webhook_types.c.owner_id == table.c.id)
        .where(table.c.payload_url.in_(urls))
    )
    for row in uow.execute(statement).mappings():
        if row["id"] not in excluded:
            yield from ((row["payload_url"], row["label"], name) for name in EVENTS if row[name])
