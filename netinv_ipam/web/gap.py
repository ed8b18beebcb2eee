"""The page of a gap between the children of a prefix: the first free prefix of each length, the next free address, and
the actions of packages with the scope ``gap``, such as a range.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from pyramid.request import Request

from netinv_core.errors import Invalid, NotFound
from netinv_core.http.views import key_of
from netinv_core.read import listing
from netinv_ipam import networks
from netinv_ipam.free_space import free_addresses_in, free_blocks_in
from netinv_ipam.networks import address_text, packed
from netinv_ipam.taken_space import Range, Row
from netinv_ipam.web import next_prefix
from netinv_web.extensions import actions_of
from netinv_web.menu import may
from netinv_web.objects import details
from netinv_web.pages import page, query_text

PATH = "/ipam/prefixes/{id}/gap/"
TEMPLATE = "netinv_ipam:web/templates/gap.jinja2"
FIRST, LAST = "first", "last"
SCOPE = "gap"  # of actions: ``path(endpoint, gap)`` has ``first``, ``last``, ``prefix_length`` and ``vrf``
ADDRESS = "ipam.ipaddress"


def path_of(prefix_id: Any, bounds: Range, version: int) -> str:
    """The page of a gap of a prefix."""
    first, last = (address_text(packed(number, version)) for number in bounds)
    return f"{PATH.replace('{id}', str(prefix_id))}?{urlencode({FIRST: first, LAST: last})}"


def show(request: Request) -> Any:
    """The page."""
    uow, endpoint = request.uow, request.context.endpoint
    item, cells = details.read_object(request, endpoint, key_of(request))
    row = listing.rows(uow, endpoint, [item["id"]], "view").get(item["id"])
    if row is None:
        raise NotFound()
    bounds = _bounds(request, row)
    first, last = (address_text(packed(number, row["ip_version"])) for number in bounds)
    offers = next_prefix.offers_of(row, free_blocks_in(uow, row, bounds))
    gap = {FIRST: first, LAST: last, "prefix_length": row["prefix_length"], "vrf": row["vrf_id"]}
    of_vrf = [("vrf", row["vrf_id"])] if row["vrf_id"] else []
    values = details.object_values(request, endpoint, item, None, cells) | {
        "gap": gap,
        "offers": [offer for offer in offers if offer.network],
        "usual": next_prefix.usual_length(row),
        "address": next(free_addresses_in(uow, row, bounds), None),
        "of_vrf": f"&{urlencode(of_vrf)}" if of_vrf else "",
        "may_add_prefix": may(uow, endpoint, "add"),
        "may_add_address": may(uow, uow.registry[ADDRESS], "add"),
        "gap_actions": actions_of(request, endpoint, SCOPE, gap),
    }
    return page(request, TEMPLATE, values)


def _bounds(request: Request, row: Row) -> Range:
    """The first and the last address of the gap in the query.

    :raises Invalid: for texts that are no addresses of the prefix, in order
    """
    low = int.from_bytes(row["network"], "big")
    high = low + (1 << (networks.BITS[row["ip_version"]] - row["prefix_length"])) - 1
    numbers = []
    for name in (FIRST, LAST):
        try:
            network = networks.parse(query_text(request, name))
        except ValueError as error:
            raise Invalid.field(name, str(error)) from None
        if network.version != row["ip_version"] or not low <= network.ip.value <= high:
            raise Invalid.field(name, "It is no address of the prefix.")
        numbers.append(network.ip.value)
    if numbers[0] > numbers[1]:
        raise Invalid.field(LAST, "It is before the first address.")
    return numbers[0], numbers[1]
