"""Selections of bulk pages: ids of rows that a list's form posts, or all objects that match the filters of the query.

The pages of several steps carry a selection along: the ids as one hidden member, the filters in their address. A digest
of the ids tells if other objects match by the time the changes are applied.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyramid.request import Request

from netinv_core.http import bodies, multipart
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_web.forms.form import last_text
from netinv_web.lists.list_query import BACK, ListQuery, query_of
from netinv_web.pages import local_path, query_text
from netinv_web.paths import page_path

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

ROW, ALL = "pk", "_all"  # members of a list's form: the id of a selected row, and "all that match"
KEYS, DIGEST, STEP = "_keys", "_digest", "_step"  # members of the further steps
FIELDS = "_fields"  # parameter of the edit page: the fields that its form offers, separated by commas
PREVIEW, APPLY = "preview", "apply"  # values of STEP
OTHERWISE = "_otherwise"  # the step for a button of another name, such as Propose
Members = Mapping[str, Sequence[Any]]


@dataclasses.dataclass(frozen=True)
class Selection:
    """The selected objects that the user may change or delete, in the order of the list.

    ``matching`` is true for all objects that match the filters, of which there are ``count``. More than ``maximum`` are
    not taken at once, because of the setting ``limited_by``. ``refused`` is the number of selected rows that are gone,
    or that the user may not change.
    """

    keys: Sequence[Any]
    count: int
    maximum: int
    matching: bool = False
    refused: int = 0
    sent_digest: str = ""
    path: str = ""
    query: str = ""
    limited_by: str = "netinv.max_bulk_objects"
    back: str = ""

    @property
    def too_many(self) -> bool:
        """True for more objects than are taken at once."""
        return self.count > self.maximum

    @property
    def digest(self) -> str:
        """The digest of the ids."""
        text = ",".join(sorted(map(str, self.keys)))
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    @property
    def changed(self) -> bool:
        """True when other objects are selected than those of the step before."""
        return bool(self.sent_digest) and self.sent_digest != self.digest

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The hidden members that carry the selection to the next step."""
        own = (ALL, "1") if self.matching else (KEYS, ",".join(map(str, self.keys)))
        return [own, (DIGEST, self.digest)]

    @property
    def list_url(self) -> str:
        """The list that the objects were selected in."""
        if self.back:
            return self.back
        return f"{self.path}?{self.query}" if self.query else self.path


def members_of(request: Request, max_members: int = 0) -> Members:
    """The texts and files of a posted form with as many ids as objects are taken at once; empty for another method.

    :param max_members: number of texts that are taken in any case
    """
    if request.method != "POST":
        return {}
    settings = request.registry.netinv.settings
    content = bodies.read_content(request, settings["max_request_size"], "netinv.max_request_size")
    most = max(max_members, settings["max_bulk_objects"] + multipart.MAX_MEMBERS)
    content_type = request.headers.get("Content-Type", multipart.ENCODED)
    return multipart.parse(content, content_type, most)


def selected(request: Request, endpoint: Endpoint, members: Members, action: str) -> Selection:
    """The objects that a form, or a query, selects, limited to those that the user has permission for.

    :raises Invalid: for filters that the list refuses
    """
    query = query_of(request).without(ROW, ALL, FIELDS, BACK)
    back = query_text(request, BACK)
    maximum = int(endpoint.registry.settings["max_bulk_objects"])
    options: dict[str, Any] = {
        "path": page_path(endpoint),
        "query": query.text,
        "sent_digest": last_text(members, DIGEST),
        "back": local_path(back) if back else "",
    }
    if last_text(members, ALL) or request.uow.query.get(ALL):
        count, keys = listing.ids(request.uow, endpoint, _filters(query), Slice(maximum + 1, 0), action)
        return Selection(keys, count, maximum, matching=True, **options)
    texts = [text for text in last_text(members, KEYS).split(",") if text]
    texts += [text for text in (*members.get(ROW, ()), *request.uow.query.get(ROW, ())) if isinstance(text, str)]
    named = list(dict.fromkeys(key for key in map(endpoint.parse_key, texts) if key is not None))
    if not named or len(named) > maximum:
        return Selection(named, len(named), maximum, **options)
    within = [endpoint.table.c.id.in_(named)]
    _, allowed = listing.ids(request.uow, endpoint, [], Slice(0, 0), action, within)
    places = {key: place for place, key in enumerate(named)}
    keys = sorted(allowed, key=places.__getitem__)
    return Selection(keys, len(keys), maximum, refused=len(named) - len(keys), **options)


def _filters(query: ListQuery) -> list[tuple[str, list[str]]]:
    """The filters and the order of a list's query."""
    orders = query.values("ordering")
    return [*query.filters, *([("ordering", orders)] if orders else [])]


def step_of(members: Members) -> str:
    """The step that a form asks for: by the button that was pressed, or the one for buttons of other names."""
    return last_text(members, STEP) or last_text(members, OTHERWISE)


def carried(members: Members, without: Collection[str] = ()) -> list[tuple[str, str]]:
    """The texts of a form as hidden members of the next step, without those that the selection and the step have."""
    left_out = {ROW, ALL, KEYS, DIGEST, STEP, OTHERWISE, *without}
    return [
        (name, value)
        for name, values in members.items()
        if name not in left_out
        for value in values
        if isinstance(value, str)
    ]
