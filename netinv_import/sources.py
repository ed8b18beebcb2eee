"""Sources of an inventory: a file, a database or a running service; each reader returns a dump."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from netinv_core.importing.dump import Declaration, Dump
from netinv_import import dumpdata, nautobot, nautobot_dumpdata, postgres, services
from netinv_import.rest import RestClient

if TYPE_CHECKING:
    from netinv_core.registry import Registry

DATABASES = ("postgresql://", "postgres://", "postgresql+psycopg://")
SERVICES = ("http://", "https://")
VERSIONED_NAUTOBOT = (1, 3)
NAUTOBOTS = (1, 2, 3)
COMPLETE = "exclude_m2m=false"  # 3.x leaves many-to-many fields out otherwise
OLDEST_NETBOX = (2, 11)
Advance = Callable[[str], None]


def read_netbox(
    source: str, declared: Mapping[str, Declaration], advance: Advance, *, token: str = "", state: Path | None = None
) -> Dump:
    """Reads the inventory of a NetBox. The ``token`` and the ``state`` file are those of a running one.

    :raises ValueError: when the source cannot be read, or is none
    """
    if source.startswith(SERVICES):
        dump, version = services.read(RestClient(source, token, state), "NetBox", lambda version: declared, advance)
        if version_of(version) < OLDEST_NETBOX:
            raise ValueError(f"{source} is a NetBox {version}: 2.11 is the oldest that can be imported")
        return dump
    if source.startswith(DATABASES):
        return postgres.read(source.replace("postgres://", "postgresql://", 1), declared, advance)
    if "://" in source:
        scheme = source.partition("://")[0]
        raise ValueError(f"{scheme}:// is no source: give a file, or a URL with https://, http:// or postgresql://")
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"there is no file {source}")
    return dumpdata.read(path)


def read_nautobot(
    url: str,
    registry: Registry,
    declared: Mapping[str, Declaration],
    advance: Advance,
    *,
    token: str,
    state: Path | None = None,
    differing: Mapping[str, Declaration] | None = None,
) -> tuple[Dump, Mapping[str, Declaration]]:
    """Reads the inventory of a running Nautobot, or of a file that one of 1.x wrote; returns it and the mapping of its
    models.

    The models of 1.x are ``declared``; those of 2.x and 3.x that are ``differing``, too.

    :raises ValueError: when it cannot be read, or has another version
    """
    if "://" not in url and Path(url).is_file():
        return nautobot_dumpdata.read(Path(url), registry), nautobot.own_models(registry, declared)
    client = client_of(url, token, state)

    def mapping(version: str) -> Mapping[str, Declaration]:
        major = version_of(version)[0]
        if major not in NAUTOBOTS:
            raise ValueError(f"{url} is a Nautobot {version}: 1.x, 2.x and 3.x can be imported")
        if version_of(version) >= VERSIONED_NAUTOBOT:
            client.use_version(".".join(map(str, version_of(version))))
        own = nautobot.own_models(registry, declared)
        if major == NAUTOBOTS[0]:
            return own
        client.use_query("depth=0" if major < NAUTOBOTS[-1] else f"depth=0&{COMPLETE}")
        return nautobot.differing_models(registry, own, differing or {})

    dump, version = services.read(client, "Nautobot", mapping, advance, lambda path: nautobot.label_of(registry, path))
    return dump, mapping(version)


def client_of(url: str, token: str, state: Path | None = None) -> RestClient:
    """Returns a client for a service.

    :raises ValueError: when it is not the URL of one
    """
    if not url.startswith(SERVICES):
        raise ValueError(f"{url} is not the URL of a service: https:// or http:// is expected")
    return RestClient(url, token, state)


def version_of(version: str) -> tuple[int, int]:
    """Returns the first two numbers of a version.

    :raises ValueError: when it has none
    """
    words = version.split(".")
    if len(words) < 2 or not words[0].isdigit() or not words[1].isdigit():
        raise ValueError(f"{version} is not a version")
    return int(words[0]), int(words[1])
