"""``/api/users/config/``: the preferences of the user who asks, one JSON object a user, bounded in size and depth."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth.models import User
from netinv_core.database import lock_rows
from netinv_core.errors import Invalid
from netinv_core.http import services
from netinv_core.http.answers import body_of, dumps
from netinv_core.http.opening import Opened
from netinv_core.http.roots import root
from netinv_core.model import table_of
from netinv_core.write.schema import unkeepable

_OBJECT = {"type": "object", "additionalProperties": True}


@services.shaped(_OBJECT, takes=_OBJECT)
@root("User Config", "The preferences of the user who asks.", allow="GET, PATCH, HEAD, OPTIONS")
def user_config(context: Opened, request: Request) -> Any:
    """The preferences of the user who asks: read, or merged key by key (PATCH)."""
    if context.identity.anonymous:
        return {}
    table = table_of(User)
    mine = table.c.id == context.identity.user_id
    select = sa.select(table.c.config_data).where(mine)
    if request.method != "PATCH":
        return context.execute(select).scalar() or {}
    body = body_of(request)
    if not isinstance(body, dict):
        raise Invalid.whole(f"Invalid data. Expected a dictionary, but got {type(body).__name__}.")
    stored = _merged(context.execute(lock_rows(select)).scalar() or {}, body)
    errors = {name: [reason] for name in body if (reason := unkeepable({name: stored[name]})) is not None}
    if errors:
        raise Invalid(errors)
    size, most = len(dumps(stored)), context.registry.settings["max_user_config_size"]
    if size > most:
        raise Invalid.whole(f"Preferences take at most {most} bytes (netinv.max_user_config_size); with these they would take {size}.")
    context.write(sa.update(table).where(mine).values(config_data=stored))
    return stored


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, value in new.items():
        before = merged.get(name)
        merged[name] = _merged(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged
