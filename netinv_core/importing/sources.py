"""Where an inventory is read from: a file, a database or a running service; each reader returns a dump."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from netinv_core.importing import dumpdata, postgres
from netinv_core.importing.dump import Declaration, Dump

DATABASES = ("postgresql://", "postgres://", "postgresql+psycopg://")
SERVICES = ("http://", "https://")


def read_netbox(source: str, declarations: Mapping[str, Declaration], advance: Callable[[str], None]) -> Dump:
    """Reads the inventory of a NetBox.

    :raises ValueError: when the source cannot be read, or is none
    """
    if source.startswith(DATABASES):
        return postgres.read(source.replace("postgres://", "postgresql://", 1), declarations, advance)
    if "://" in source:
        scheme = source.partition("://")[0]
        raise ValueError(f"{scheme}:// is no source: give a file, or a URL with postgresql://")
    path = Path(source)
    if not path.is_file():
        raise ValueError(f"there is no file {source}")
    return dumpdata.read(path)
