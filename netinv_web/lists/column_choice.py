"""Choice of a list's columns: in the URL, of the user's preferences, of the installation, or of the resource."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.write import save
from netinv_web import frame, notices, preferences
from netinv_web.lists import list_defaults
from netinv_web.lists.columns import Column, all_columns, default_columns
from netinv_web.lists.list_query import BACK, ListQuery
from netinv_web.menu import may
from netinv_web.pages import form_of, local_path, see_other
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

PARAMETER = "_columns"
FORM_MEMBERS = frozenset({"_reset", "_everyone", "page", BACK})


@dataclasses.dataclass(frozen=True)
class OfferedColumn:
    """A column in the menu of columns; ``earlier`` is the path of the list with it one place further left."""

    name: str
    label: str
    chosen: bool
    earlier: str = ""


def chosen_columns(request: Request, endpoint: Endpoint) -> Sequence[str]:
    """The columns of the URL (``_columns=status,site``), of the user's preferences, of the installation, or derived."""
    stated = request.uow.query.get(PARAMETER)
    if stated and any(stated):
        return ",".join(stated).split(",")
    preferred = frame.of(request).preferences.columns.get(endpoint.label)
    if isinstance(preferred, list) and all(isinstance(name, str) for name in preferred):
        return preferred
    return list_defaults.default_of(request.uow, endpoint.label) or default_columns(endpoint)


def offered_columns(
    request: Request, endpoint: Endpoint, query: ListQuery, chosen: Sequence[Column]
) -> list[OfferedColumn]:
    """The columns of the menu: the chosen ones in their order, then the others by label, without the name, which the
    first column of each list shows.
    """
    names = [column.name for column in chosen]
    offered = [
        OfferedColumn(column.name, column.label, True, _path_with_move(query, names, place) if place else "")
        for place, column in enumerate(chosen)
    ]
    others = [column for name, column in all_columns(request.uow, endpoint).items() if name not in {*names, "name"}]
    others.sort(key=lambda column: column.label.lower())
    return [*offered, *(OfferedColumn(column.name, column.label, False) for column in others)]


def _path_with_move(query: ListQuery, names: Sequence[str], place: int) -> str:
    """The path of the list with a column one place further left."""
    order = [*names[: place - 1], names[place], names[place - 1], *names[place + 1 :]]
    return f"{query.with_values(PARAMETER, [','.join(order)]).url}#columns"


def keep(request: Request) -> Response:
    """Keeps the chosen columns for the user or for everyone, or forgets those of the user; leads back to the list."""
    endpoint: Endpoint = request.context.endpoint
    names = [name for text in form_of(request).getall(PARAMETER) if isinstance(text, str) for name in text.split(",")]
    known = all_columns(request.uow, endpoint)
    chosen = [name for name in dict.fromkeys(names) if name in known]
    if "_everyone" in form_of(request):
        return _keep_for_everyone(request, endpoint, chosen)
    stored = dict(frame.of(request).preferences.columns)
    stored.pop(endpoint.label, None)
    if "_reset" not in form_of(request) and chosen:
        stored[endpoint.label] = chosen
    preferences.store(request, {"columns": stored})
    return see_other(posted_query(request, endpoint).without(PARAMETER).url)


def may_set_default(request: Request) -> bool:
    """True when the user may set the columns of everybody's list."""
    endpoint = request.registry.netinv.get(list_defaults.LABEL)
    return endpoint is not None and all(may(request.uow, endpoint, action) for action in ("add", "change"))


def _keep_for_everyone(request: Request, endpoint: Endpoint, chosen: Sequence[str]) -> Response:
    """Stores the columns as the installation's default, by the ordinary write path and its permissions."""
    uow, resource = request.uow, request.registry.netinv[list_defaults.LABEL]
    key = list_defaults.id_of(uow, endpoint.label)
    body = {"content_type": endpoint.label, "columns": list(chosen)}
    if key is None:
        save.create(uow, resource, [body], single=True)
    else:
        save.update(uow, resource, [{**body, "id": key}], partial=True, single=True)
    text = "These are now the columns of this list for everyone who has not chosen others."
    notice = notices.Notice(text, undo=str(uow.request_id))
    return notices.add(request, see_other(posted_query(request, endpoint).without(PARAMETER).url), notice)


def posted_query(request: Request, endpoint: Endpoint) -> ListQuery:
    """The query of the list that a form has sent along with its own members, which ``FORM_MEMBERS`` names."""
    pairs = [(name, value) for name, value in form_of(request).items() if isinstance(value, str) and value]
    back = next((value for name, value in pairs if name == BACK), "")
    path = local_path(back) if back else page_path(endpoint)
    return ListQuery(path, tuple(pair for pair in pairs if pair[0] not in FORM_MEMBERS))
