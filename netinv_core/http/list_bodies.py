"""Bodies of requests that create or change objects: JSON, forms for one object, and the formats of packages, such as
tables.

All become the same bodies, in the newest version, and take the same path from there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyramid.request import Request

from netinv_core.errors import Invalid
from netinv_core.http import representations
from netinv_core.http.list_formats import readers_of
from netinv_core.http.serialization import body_of
from netinv_core.write import table_rows as rows


@dataclasses.dataclass(frozen=True)
class ListBody:
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


def new_items(request: Request) -> ListBody:
    """The objects to create: one, or a list or table of them, whose rows may have errors."""
    body = _body(request, forms=True)
    if isinstance(body, rows.ParsedRows):
        return ListBody(body.bodies, rows=body)
    single = not isinstance(body, list)
    upgraded = representations.upgrade_bodies(
        request.uow, request.context.endpoint, [body] if single else body, new=True
    )
    return ListBody(upgraded, single)


def changed_items(request: Request) -> ListBody:
    """The changes of a list of objects, each with its id. Rows of a table may have a natural key instead, and errors.

    :raises Invalid: for anything but a list
    """
    uow, endpoint = request.uow, request.context.endpoint
    body = _body(request)
    if isinstance(body, rows.ParsedRows):
        rows.match(uow, endpoint, body)
        return ListBody(body.bodies, rows=body)
    return ListBody(representations.upgrade_bodies(uow, endpoint, items_of(body), new=False))


def upserted_items(request: Request) -> ListBody:
    """The objects of a list or table to create or to change; rows may have errors.

    :raises Invalid: for anything but a list
    """
    uow, endpoint = request.uow, request.context.endpoint
    body = _body(request)
    if isinstance(body, rows.ParsedRows):
        return ListBody(body.bodies, rows=body, new_bodies=body.bodies)
    bodies = items_of(body)
    changed, new = (representations.upgrade_bodies(uow, endpoint, bodies, new=is_new) for is_new in (False, True))
    return ListBody(changed, new_bodies=new)


def items_of(body: Any) -> list[Any]:
    """A body that has to be a list.

    :raises Invalid: for another one
    """
    if not isinstance(body, list):
        raise Invalid.whole(f'Expected a list of items but got type "{type(body).__name__}".')
    return body


def _body(request: Request, *, forms: bool = False) -> Any:
    """The value of a body in JSON, in a form, or in the format of a package, which also gives :class:`ParsedRows`."""
    media_type = str(request.headers.get("Content-Type", "")).partition(";")[0].strip().lower()
    read = readers_of(request.registry.netinv).get(media_type)
    return body_of(request, request.context.endpoint if forms else None) if read is None else read(request)
