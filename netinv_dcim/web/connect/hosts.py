"""Search of the objects with ports by what a person typed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from netinv_core.labels import title_of
from netinv_core.read import listing
from netinv_core.read.listing import Slice
from netinv_dcim.cabling.paths import End
from netinv_dcim.web.connect import ports
from netinv_dcim.web.connect.ports import PortHost

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

MAX_MATCHES = 20  # hosts that are offered for a text


@dataclasses.dataclass(frozen=True)
class FoundHost:
    """The host that a text means; without one the reason, and the hosts that it could mean."""

    end: End | None = None
    error: str = ""
    matches: Sequence[PortHost] = ()


def find(uow: UnitOfWork, kind: str, text: str, limits: Mapping[str, str] = MappingProxyType({})) -> FoundHost:
    """The host of a kind that a text means: an id, the address of its page, or the only one that a search finds, with
    further query parameters of its list as ``limits``.
    """
    endpoint = uow.registry[kind]
    key = endpoint.parse_key(text.partition("?")[0].rstrip("/").rpartition("/")[2])
    if key is not None:
        return FoundHost(End(kind, key))
    count, keys = listing.ids(
        uow, endpoint, [("q", [text]), *((name, [value]) for name, value in limits.items())], Slice(MAX_MATCHES + 1, 0)
    )
    found = list(ports.hosts_of(uow, [End(kind, key) for key in keys]).values())
    exact = [host for host in found if host.name.casefold() == text.casefold()]
    if len(exact) == 1 or len(found) == 1:
        return FoundHost((exact or found)[0].end)
    if not found:
        return FoundHost(error=f"No {title_of(endpoint).lower()} is found by “{text[:100]}”.")
    more = f" {count} match, the first {MAX_MATCHES} are:" if count > MAX_MATCHES else ""
    return FoundHost(None, f"Several {endpoint.plural} match “{text[:100]}”: choose one.{more}", found[:MAX_MATCHES])
