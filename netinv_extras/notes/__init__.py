"""Notes: texts of users about an object of any package, and the route ``notes/`` below each object."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request
from sqlalchemy.orm import Mapped

from netinv_core import fields
from netinv_core.auth.models import User
from netinv_core.errors import Invalid, NotFound, not_an_object
from netinv_core.http import query_parameters, views
from netinv_core.http.actions import documented
from netinv_core.http.serialization import body_of
from netinv_core.models.base import ChangeLogged, Organizational
from netinv_core.models.columns import SET_NULL, Ref, column, foreign_key, required_text, slug
from netinv_core.presentation import Presentation
from netinv_core.read import listing
from netinv_core.resource import FieldFactory, Resource, generic_fk
from netinv_core.write import save
from netinv_core.write.slugs import slugify
from netinv_extras.content_types import content_type_pair, referenced_objects, type_label

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MAX_SLUG_LENGTH = 100
MAX_SHOWN = 60  # characters of a name


class Note(ChangeLogged):
    """A text about one object, and its author."""

    __tablename__ = "extras_note"

    user_id: Mapped[Ref | None] = foreign_key(
        User,
        on_delete=SET_NULL,
        read_only=True,
        restored=True,
        when_cleared="They keep the name of the account.",
    )
    user_name: Mapped[str] = column(length=150, read_only=True, restored=True, default="")
    assigned_object_type: Mapped[str] = column(length=100, index=True)
    assigned_object_id: Mapped[uuid.UUID] = column(index=True)
    note: Mapped[str] = required_text()
    slug: Mapped[str] = slug(of="", length=MAX_SLUG_LENGTH, default="")


def has_notes(endpoint: Endpoint) -> bool:
    """True for endpoints whose objects a note can refer to."""
    return endpoint.key_type is uuid.UUID


def first_words(note: str) -> str:
    """The first words of a note, which name it on pages."""
    line = note.strip().partition("\n")[0]
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"


notes = Resource(
    Note,
    "notes",
    display="slug",
    brief=["assigned_object", "note", "user", "slug"],
    order=["created"],
    search=["user_name", "note", "assigned_object_id"],
    fields=[
        type_label("assigned_object_type", has_notes),
        generic_fk("assigned_object", "assigned_object_type", "assigned_object_id"),
    ],
    filters=content_type_pair("assigned_object_type", unknown_is_empty=True),
    about=[("assigned_object_type", "assigned_object_id")],
    presentation=Presentation(name_in_context=(first_words, "note")),
)


@notes.prepare
def set_author_and_slug(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects notes about missing objects. Sets the author of new notes, and an empty slug to object name and time."""
    references = referenced_objects(uow, drafts, "assigned_object_type", "assigned_object_id")
    for number, (draft, endpoint, nested) in enumerate(references):
        if draft.new:
            draft["user_id"], draft["user_name"] = uow.identity.user_id, uow.identity.username
        if not draft["slug"]:
            name = nested.get(endpoint.resource.name_attribute or "display", endpoint.label)
            draft["slug"] = _slug(str(name), uow, number)


def _slug(name: str, uow: UnitOfWork, number: int) -> str:
    """Returns a slug that is unique within a request by ``number``, the position of the note."""
    suffix = f"{uow.now:%Y-%m-%dt%H%M%S%f}" + (f"-{number}" if number else "")
    return f"{slugify(name)[: MAX_SLUG_LENGTH - len(suffix) - 1]}-{suffix}"


def _notes_url(registry: Registry, endpoint: Endpoint) -> Field:
    return fields.SubresourceUrl(name="notes_url", endpoint=endpoint, suffix="notes/")


notes_url = FieldFactory("notes_url", _notes_url)


_QUERY = [
    query_parameters.query("fields", {"type": "string"}, "Names of members to show, separated by commas."),
    query_parameters.query("include", {"type": "string", "enum": ["etag"]}, "Adds the ETag of each note."),
    *query_parameters.PAGING,
]


@documented("extras.note", form="page", query=_QUERY)
def list_notes(request: Request) -> dict[str, Any]:
    """Page of the notes about one object."""
    uow, endpoint = request.uow, request.context.endpoint
    key = _existing_key(request)
    parameters = [("assigned_object_type", [endpoint.label]), ("assigned_object_id", [str(key)])]
    return views.list_page(request, uow.registry["extras.note"], parameters)


@documented(
    "extras.note",
    request_body={"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]},
    ignores_unknown=True,
)
def add_note(request: Request) -> dict[str, Any]:
    """Creates a note about one object."""
    uow, endpoint = request.uow, request.context.endpoint
    key = _existing_key(request)
    body = body_of(request)
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    note = {**body, "assigned_object_type": endpoint.label, "assigned_object_id": str(key)}
    (created,) = save.create(uow, uow.registry["extras.note"], [note], single=True)
    request.response.status_int = 201
    return created


def takes_notes(endpoint: Endpoint) -> bool:
    """True for resources with ``notes/`` below their objects. A further list of another resource has no such routes."""
    return issubclass(endpoint.model, Organizational) and endpoint.resource.of is None


def _existing_key(request: Request) -> Any:
    """The id of the object that the path names.

    :raises NotFound: when the user may not view such an object, or it has no notes
    """
    endpoint, key = request.context.endpoint, views.key_of(request)
    if not takes_notes(endpoint):
        raise NotFound()
    listing.detail(request.uow, endpoint, key, shape="nested")
    return key


def includeme(config: Any) -> None:
    """Adds ``notes/`` below the objects of every application."""
    for app in config.registry.netinv.apps:
        config.add_netinv_action(
            f"{app}/[^/]+", "notes", offered=takes_notes, get=list_notes, post=add_note, permission="view"
        )
