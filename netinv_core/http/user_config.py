"""``/api/users/config/``: the preferences of the user of the request, a JSON object with limits on size and depth."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth.models import User
from netinv_core.db.engine import lock_rows
from netinv_core.errors import Invalid, not_an_object
from netinv_core.fields.schema import storage_error
from netinv_core.http.actions import documented
from netinv_core.http.root_views import root
from netinv_core.http.serialization import body_of, dumps
from netinv_core.models.base import table_of

_OBJECT = {"type": "object", "additionalProperties": True}


@documented(_OBJECT, request_body=_OBJECT)
@root("User Config", "The preferences of the user who asks.", methods=("GET", "PATCH"))
def user_config(request: Request) -> Any:
    """The preferences of the user who asks: read, or merged key by key (PATCH)."""
    uow = request.uow
    if uow.identity.anonymous:
        return {}
    table = table_of(User)
    is_user = table.c.id == uow.identity.user_id
    select = sa.select(table.c.config_data).where(is_user)
    if request.method != "PATCH":
        return uow.execute(select).scalar() or {}
    body = body_of(request)
    if not isinstance(body, dict):
        raise Invalid(not_an_object(body))
    stored = _merge(uow.execute(lock_rows(select)).scalar() or {}, body)
    errors = {name: [reason] for name in body if (reason := storage_error({name: stored[name]})) is not None}
    if errors:
        raise Invalid(errors)
    size, max_size = len(dumps(stored)), uow.registry.settings["max_user_config_size"]
    if size > max_size:
        raise Invalid.whole(
            f"Preferences take at most {max_size} bytes (netinv.max_user_config_size); "
            f"with these they would take {size}."
        )
    uow.execute(sa.update(table).where(is_user).values(config_data=stored))
    return stored


def _merge(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, value in new.items():
        before = merged.get(name)
        merged[name] = _merge(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged
