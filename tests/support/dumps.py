"""Made-up dumps of a NetBox, and their import."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from netinv_core.auth import identity
from netinv_core.db.engine import session_factory
from netinv_core.driver.sessions import commit
from netinv_core.uow import UnitOfWork
from netinv_import.netbox import ImportReport, import_netbox
from netinv_testing import Service

DUMP = Path(os.environ.get("NETINV_DUMP") or Path(__file__).parents[3] / "shared" / "data" / "netbox-demo-v2.11.json")


def load(service: Service, path: Path, username: str = "", **options: Any) -> ImportReport:
    """Imports and commits, as the administrator or another user."""
    report = ImportReport()
    with session_factory(service.engine)() as session:
        uow = UnitOfWork(service.registry, session, identity.ANONYMOUS, writing=True)
        uow.identity = identity.by_username(uow, username or service.admin.username)
        import_netbox(uow, path, report, **options)
        commit(session)
    return report


def item(model: str, key: Any, /, **fields: Any) -> dict[str, Any]:
    return {"model": model, "pk": key, "fields": fields}


def named(model: str, key: Any, name: str, /, **fields: Any) -> dict[str, Any]:
    return item(model, key, name=name, slug=name.lower().replace(" ", "-"), **fields)
