"""The page that asks whether to delete an object: it says what goes along, what is cleared, and what protects it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import uow as units
from netinv_core.errors import Conflict, Invalid, error_text
from netinv_core.http.views import key_of
from netinv_core.labels import plural_of, title_of
from netinv_core.read.listing import detail
from netinv_core.types import Endpoint, UnitOfWork
from netinv_core.write import delete
from netinv_core.write.dry_run import dry_run
from netinv_web import notices
from netinv_web.objects.details import object_values
from netinv_web.pages import page, see_other
from netinv_web.paths import object_path, page_path

DELETE = "netinv_web:templates/delete.jinja2"
MAX_NAMES = 10  # objects of each model that are named


@dataclasses.dataclass(frozen=True)
class Affected:
    """The objects of a model that a deletion concerns: their number, and names and paths of the first of them."""

    title: str
    count: int
    objects: Sequence[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class Consequences:
    """The outcome of a deletion: what goes along, what loses a reference, and the reason why it is not possible."""

    deleted: Sequence[Affected] = ()
    changed: Sequence[Affected] = ()
    hidden: int = 0
    error: str = ""
    protecting: Sequence[Affected] = ()


def delete_object(request: Request) -> Response:
    """Asks whether to delete an object, and deletes it."""
    endpoint, key = request.context.endpoint, key_of(request)
    representation = detail(request.uow, endpoint, key)
    values = object_values(request, endpoint, representation, "")
    if request.method != "POST":
        with trial(request) as uow:
            consequences = consequences_of(uow, endpoint, key)
        return page(request, DELETE, values | {"consequences": consequences})
    try:
        delete.delete(request.uow, endpoint, [{"id": key}], single=True)
    except (Conflict, Invalid) as error:
        refused = refusal(request.uow, error)
        return page(request, DELETE, values | {"consequences": refused}, error.status)
    text = f"{title_of(endpoint)} {representation.get('display', '')} was deleted."
    notice = notices.Notice(text, undo=str(request.uow.request_id))
    return notices.add(request, see_other(page_path(endpoint)), notice)


@contextlib.contextmanager
def trial(request: Request) -> Iterator[UnitOfWork]:
    """A unit of work beside that of a GET, which only reads; it is never committed."""
    uow = request.uow
    with request.registry.netinv_sessions() as session:
        yield units.UnitOfWork(uow.registry, session, uow.identity, uow.base, writing=True)
        session.rollback()


def consequences_of(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> Consequences:
    """Deletes an object in a dry run, and returns what that leads to."""
    try:
        with dry_run(uow) as preview:
            delete.delete(uow, endpoint, [{"id": key}], single=True)
    except (Conflict, Invalid) as error:
        return refusal(uow, error)
    own = (endpoint.label, str(key))
    others = [change for change in preview.changes if (change["object_type"], change["object_id"]) != own]
    return Consequences(
        by_model(uow, [change for change in others if change["action"] == "delete"]),
        by_model(uow, [change for change in others if change["action"] != "delete"]),
        preview.counts.get("changes", 0) - len(preview.changes),
    )


def refusal(uow: UnitOfWork, error: Conflict | Invalid) -> Consequences:
    """The reason against a deletion, with links to the objects that protect."""
    protecting = [
        {"object_type": label, "object_id": str(key), "display": name}
        for label, key, name in (error.objects if isinstance(error, Conflict) else ())
    ]
    return Consequences(error=error_text(error.body), protecting=by_model(uow, protecting))


def by_model(uow: UnitOfWork, entries: Sequence[Mapping[str, Any]]) -> list[Affected]:
    """The objects of changes of a dry run, grouped by model."""
    by_label: dict[str, list[Mapping[str, Any]]] = {}
    for entry in entries:
        by_label.setdefault(entry["object_type"], []).append(entry)
    affected = []
    for label, items in by_label.items():
        endpoint = uow.registry[label]
        named = [
            (str(item["display"] or item["object_id"]), object_path(endpoint, item["object_id"])) for item in items
        ]
        title = title_of(endpoint) if len(items) == 1 else plural_of(endpoint)
        affected.append(Affected(title, len(items), named[:MAX_NAMES]))
    return affected
