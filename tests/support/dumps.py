"""Made-up dumps of a NetBox, and their import."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from netinv_core.auth import identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.uow import UnitOfWork
from netinv_import.netbox import ImportReport, declarations, import_dump, import_netbox
from netinv_import.sources import read_nautobot
from netinv_testing import Service
from tests.support.inventory_service import TOKEN, InventoryService

DUMP = Path(os.environ.get("NETINV_DUMP") or Path(__file__).parents[3] / "shared" / "data" / "netbox-demo-v2.11.json")


def load(service: Service, path: Path, username: str = "", **options: Any) -> ImportReport:
    """Imports a dump and commits, as the administrator or another user."""
    return _commit(service, functools.partial(import_netbox, path=path, **options), username)


def load_nautobot(service: Service, other: InventoryService) -> ImportReport:
    """Imports a Nautobot of 2.x or later and commits, as the administrator."""
    registry = service.registry
    own, differing = (declarations(registry, product) for product in ("nautobot", "nautobot2"))

    def read(uow: UnitOfWork, *, report: ImportReport) -> None:
        dump, models = read_nautobot(other.url, registry, own, report.advance, token=TOKEN, differing=differing)
        import_dump(uow, dump, models, report, origin="nautobot", keep_ids=True)

    return _commit(service, read)


def _commit(service: Service, write: Callable[..., Any], username: str = "") -> ImportReport:
    """Calls ``write(uow, report=report)`` and commits."""
    report = ImportReport()
    with session_factory(service.engine)() as session:
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, username or service.admin.username)
        write(uow, report=report)
        commit(session)
    return report


def item(model: str, key: Any, /, **fields: Any) -> dict[str, Any]:
    return {"model": model, "pk": key, "fields": fields}


def named(model: str, key: Any, name: str, /, **fields: Any) -> dict[str, Any]:
    return item(model, key, name=name, slug=name.lower().replace(" ", "-"), **fields)
