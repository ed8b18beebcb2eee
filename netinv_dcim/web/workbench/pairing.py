"""Ways to pair the free ports of two lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from netinv_dcim.web.connect.ports import ConnectablePort

FAN = 12  # ports of the right side for each of the left one, as of a trunk of twelve fibres
Pairs = Iterator[tuple[ConnectablePort, ConnectablePort]]
Pairing = Callable[[Sequence[ConnectablePort], Sequence[ConnectablePort]], Pairs]


def in_order(left: Sequence[ConnectablePort], right: Sequence[ConnectablePort]) -> Pairs:
    """The first with the first, the second with the second."""
    return zip(left, right, strict=False)


def by_name(left: Sequence[ConnectablePort], right: Sequence[ConnectablePort]) -> Pairs:
    """Ports with equal names, whatever their case; of several with one name each once."""
    waiting: dict[str, list[ConnectablePort]] = {}
    for port in right:
        waiting.setdefault(port.name.casefold(), []).append(port)
    for port in left:
        others = waiting.get(port.name.casefold())
        if others:
            yield port, others.pop(0)


def pair_crossed(left: Sequence[ConnectablePort], right: Sequence[ConnectablePort]) -> Pairs:
    """The first with the second and the second with the first, as transmitting and receiving fibres."""
    exchanged = (port for place in range(0, len(right), 2) for port in reversed(right[place : place + 2]))
    return zip(left, exchanged, strict=False)


def reversed_order(left: Sequence[ConnectablePort], right: Sequence[ConnectablePort]) -> Pairs:
    """The first with the last."""
    return zip(left, reversed(right), strict=False)


def pair_fanned(left: Sequence[ConnectablePort], right: Sequence[ConnectablePort]) -> Pairs:
    """Each with the first of the next twelve: trunks, which are split up behind the first port of a cassette."""
    return zip(left, right[::FAN], strict=False)


PAIRINGS: Mapping[str, tuple[str, Pairing]] = {
    "order": ("In order", in_order),
    "name": ("By equal name", by_name),
    "crossed": ("Crossed", pair_crossed),
    "reverse": ("In reverse", reversed_order),
    "fan": (f"1:{FAN}", pair_fanned),
}
