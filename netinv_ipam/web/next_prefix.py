"""The next free prefix of a length: the page that offers one of each, and the button on the page of a prefix."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Sequence

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.errors import NotFound, RequestError, error_text
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_ipam import allocation
from netinv_ipam.free_space import Block, free_blocks, network_text
from netinv_ipam.networks import BITS
from netinv_ipam.taken_space import Row
from netinv_web import notices
from netinv_web.following import form_of_object
from netinv_web.objects import details
from netinv_web.pages import form_text, page, see_other
from netinv_web.paths import object_path

PAGE = "netinv_ipam:web/templates/next_prefix.jinja2"
FIELD = "prefix_length"
USUAL = {4: 24, 6: 64}
MAX_LENGTHS = 32
MAX_BLOCKS = 1000  # free networks that are looked at for the page


def lengths(row: Row) -> Sequence[int]:
    """The lengths of prefixes within one."""
    length = row["prefix_length"]
    return range(length + 1, min(BITS[row["ip_version"]], length + MAX_LENGTHS) + 1)


def usual_length(row: Row) -> int:
    """The length that is proposed: that of a network of hosts."""
    usual = USUAL[row["ip_version"]]
    return usual if usual > row["prefix_length"] else int(row["prefix_length"]) + 1


@dataclasses.dataclass(frozen=True)
class OfferedPrefix:
    """A length, and the free network that has it first; blank if there is none."""

    length: int
    network: str


def offers_of(row: Row, free: Iterable[Block]) -> list[OfferedPrefix]:
    """The first network of each length in the free ones of a prefix."""
    blocks = list(itertools.islice(free, MAX_BLOCKS))
    found = []
    for length in lengths(row):
        low = next((low for low, block_length in blocks if block_length <= length), None)
        found.append(OfferedPrefix(length, network_text((low, length), row["ip_version"]) if low is not None else ""))
    return found


def show(request: Request) -> Response:
    """The page, and the button: allocates the prefix, and leads to its form."""
    if request.method == "POST":
        return _allocate(request)
    uow, endpoint = request.uow, request.context.endpoint
    item, cells = details.read_object(request, endpoint, key_of(request))
    row = listing.rows(uow, endpoint, [item["id"]], "view").get(item["id"])
    if row is None:
        raise NotFound()
    values = details.object_values(request, endpoint, item, None, cells)
    return page(request, PAGE, values | {"offers": offers_of(row, free_blocks(uow, row)), "usual": usual_length(row)})


def _allocate(request: Request) -> Response:
    endpoint = request.context.endpoint
    path, text = object_path(endpoint, key_of(request)), form_text(request, FIELD)
    try:
        created = allocation.allocate_next_prefix(request, int(text) if text.isascii() and text.isdecimal() else 0)
    except RequestError as error:
        return notices.add(request, see_other(path), notices.Notice(error_text(error.body), "danger"))
    if created is None:
        return notices.add(request, see_other(path), notices.Notice(f"There is no room for a /{text}.", "warning"))
    notice = notices.Notice(f"{created['prefix']} was allocated.", undo=str(request.uow.request_id))
    following = form_of_object(request.uow, endpoint, created["id"], path)
    return notices.add(request, see_other(following), notice)
