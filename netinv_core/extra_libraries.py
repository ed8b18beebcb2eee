"""Drivers of databases, queues and traces: libraries that an installation has only with an extra of ``netinv``."""

from __future__ import annotations

import importlib

# The scheme of an address → the module of its driver, and the extra of the distribution that installs it.
_DRIVERS = {
    "postgresql": ("psycopg", "postgresql"),
    "mysql": ("pymysql", "mysql"),
    "mariadb": ("pymysql", "mysql"),
    "redis": ("redis", "redis"),
    "rediss": ("redis", "redis"),
    "unix": ("redis", "redis"),
    "http": ("opentelemetry.exporter.otlp.proto.http", "otel"),
    "https": ("opentelemetry.exporter.otlp.proto.http", "otel"),
}


def require(place: str, url: str) -> None:
    """Imports the driver for the address of a database, a queue or a collector of traces; SQLite needs none.

    :raises ValueError: when it cannot be imported, with ``place``, which has the address, and the extra to install; the
        address is left out, since it may contain a password
    """
    scheme = url.partition(":")[0].partition("+")[0]
    if scheme not in _DRIVERS:
        return
    module, extra = _DRIVERS[scheme]
    try:
        importlib.import_module(module)
    except ImportError as error:
        install = f'pip install "netinv[{extra}]"'
        raise ValueError(f"{place} needs a driver for {scheme}: {install} ({error})") from None
