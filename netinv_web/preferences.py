"""Preferences of users: a member ``web`` of the JSON object that ``/api/users/config/`` keeps for each user.

They are read in the statement that finds the session.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth.models import User
from netinv_core.db.engine import lock_rows
from netinv_core.models.base import table_of
from netinv_web.auth.sessions import current

MEMBER = "web"
THEMES = ("system", "light", "dark")
DENSITIES = ("comfortable", "compact")


@dataclasses.dataclass(frozen=True)
class Preferences:
    """The preferences of a user."""

    theme: str = "system"
    density: str = "comfortable"
    per_page: int = 50
    shortcuts: bool = True
    columns: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    pinned_views: Sequence[str] = ()
    import_columns: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def preferences_of(request: Request) -> Preferences:
    """The preferences of the user of a request; the defaults for anybody without a session."""
    session = current(request)
    stored = session.preferences if session is not None and isinstance(session.preferences, dict) else {}
    theme, density, per_page = stored.get("theme"), stored.get("density"), stored.get("per_page")
    columns, pins, imported = stored.get("columns"), stored.get("pinned_views"), stored.get("import_columns")
    return Preferences(
        theme=theme if theme in THEMES else "system",
        density=density if density in DENSITIES else "comfortable",
        per_page=per_page if isinstance(per_page, int) and 0 < per_page <= 1000 else 50,
        shortcuts=stored.get("shortcuts") is not False,
        columns=columns if isinstance(columns, dict) else {},
        pinned_views=[pin for pin in pins if isinstance(pin, str)] if isinstance(pins, list) else (),
        import_columns=imported if isinstance(imported, dict) else {},
    )


def store(request: Request, values: Mapping[str, Any]) -> None:
    """Merges values into the stored preferences of the user; a value ``None`` removes a preference."""
    uow, table = request.uow, table_of(User)
    is_user = table.c.id == uow.identity.user_id
    stored = uow.execute(lock_rows(sa.select(table.c.config_data).where(is_user))).scalar() or {}
    former = stored.get(MEMBER)
    merged = {**(former if isinstance(former, dict) else {}), **values}
    web = {name: value for name, value in merged.items() if value is not None}
    uow.execute(sa.update(table).where(is_user).values(config_data={**stored, MEMBER: web}))
