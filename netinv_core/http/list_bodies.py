"""Bodies of requests that create or change objects: JSON, YAML, tables (CSV, TSV), and forms for one object.

All become the same bodies, in the newest version, and take the same path from there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http import bodies, representations, versions
from netinv_core.http.list_files import DELIMITERS
from netinv_core.http.serialization import body_of
from netinv_core.tabular import delimited, rows, yaml_documents

YAML_MEDIA = frozenset({versions.YAML, "application/x-yaml", "text/yaml", "text/x-yaml"})


@dataclasses.dataclass(frozen=True)
class Items:
    """Bodies of objects: ``single`` for one that is not in a list; ``rows`` are those of a table.

    ``new_bodies`` are the bodies as they are for new objects, where they may be about either.
    """

    bodies: list[Any]
    single: bool = False
    rows: rows.ParsedRows | None = None
    new_bodies: Sequence[Any] = ()

    def numbered_errors(self) -> AbstractContextManager[None]:
        """Context manager that adds the numbers of rows to errors."""
        return nullcontext() if self.rows is None else self.rows.numbered_errors()

    def raise_errors(self, positions: Sequence[int]) -> None:
        """Rejects rows with cells that cannot be converted.

        :raises Invalid: with one entry for each position
        """
        if self.rows is not None and any(errors := [self.rows.errors[position] for position in positions]):
            raise Invalid.batch(errors)

    def at(self, positions: Sequence[int]) -> list[Any]:
        """The bodies at some positions."""
        return [self.bodies[position] for position in positions]


def new_items(request: Request) -> Items:
    """The objects to create: one, or a list or table of them, whose rows may have errors."""
    if _media_type(request) in versions.TABLES:
        parsed = _rows(request)
        return Items(parsed.bodies, rows=parsed)
    body = _body(request, forms=True)
    single = not isinstance(body, list)
    upgraded = representations.upgrade_bodies(
        request.uow, request.context.endpoint, [body] if single else body, new=True
    )
    return Items(upgraded, single)


def changed_items(request: Request) -> Items:
    """The changes of a list of objects, each with its id. Rows of a table may have a natural key instead, and errors.

    :raises Invalid: for anything but a list
    """
    uow, endpoint = request.uow, request.context.endpoint
    if _media_type(request) in versions.TABLES:
        parsed = _rows(request)
        rows.match(uow, endpoint, parsed)
        return Items(parsed.bodies, rows=parsed)
    return Items(representations.upgrade_bodies(uow, endpoint, items_of(_body(request)), new=False))


def upserted_items(request: Request) -> Items:
    """The objects of a list or table to create or to change; rows may have errors.

    :raises Invalid: for anything but a list
    """
    uow, endpoint = request.uow, request.context.endpoint
    if _media_type(request) in versions.TABLES:
        parsed = _rows(request)
        return Items(parsed.bodies, rows=parsed, new_bodies=parsed.bodies)
    bodies = items_of(_body(request))
    changed, new = (representations.upgrade_bodies(uow, endpoint, bodies, new=is_new) for is_new in (False, True))
    return Items(changed, new_bodies=new)


def items_of(body: Any) -> list[Any]:
    """A body that has to be a list.

    :raises Invalid: for another one
    """
    if not isinstance(body, list):
        raise Invalid.whole(f'Expected a list of items but got type "{type(body).__name__}".')
    return body


def _media_type(request: Request) -> str:
    return str(request.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def _body(request: Request, *, forms: bool = False) -> Any:
    """The value of a body in JSON or YAML, or in a form."""
    if _media_type(request) not in YAML_MEDIA:
        return body_of(request, request.context.endpoint if forms else None)
    settings = request.registry.netinv.settings
    text = delimited.decoded(_content(request))
    return bodies.checked(yaml_documents.load(text, max_values=settings["max_json_values"]), settings)


def _rows(request: Request) -> rows.ParsedRows:
    """The rows of a table. TSV has tabs; the delimiter of CSV is recognised.

    :raises UnsupportedMedia: for another encoding than UTF-8
    """
    settings = request.registry.netinv.settings
    delimiter = delimited.TAB if DELIMITERS[_media_type(request)] == delimited.TAB else None
    limits = {"max_rows": settings["max_bulk_objects"], "max_values": settings["max_json_values"]}
    table = delimited.read(_content(request), delimiter=delimiter, **limits)
    return rows.parse(request.uow, request.context.endpoint, table)


def _content(request: Request) -> bytes:
    """The bytes of a body in UTF-8.

    :raises UnsupportedMedia: for another ``charset``
    """
    bodies.require_utf8(request.headers.get("Content-Type", ""))
    return bodies.read_content(request, request.registry.netinv.settings["max_request_size"], "netinv.max_request_size")
