"""Reverting: every recorded change can be undone, unless a later one stands against it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.models.base import table_of
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint


def _is_recorded(endpoint: Endpoint) -> bool:
    return endpoint.resource.recorded and endpoint.resource.writable and endpoint.key_type is uuid.UUID


def _change_of(case: Case, item: dict[str, Any], action: str) -> str:
    """The path of the latest change of an object with this action."""
    table = table_of(ObjectChange)
    rows = case.service.rows(
        sa.select(table.c.id)
        .where(table.c.changed_object_id == uuid.UUID(item["id"]), table.c.action == action)
        .order_by(table.c.time.desc(), table.c.position.desc())
    )
    return f"{case.registry.of_model(ObjectChange).path}{rows[0].id}/revert/"


def _own(item: dict[str, Any]) -> dict[str, Any]:
    """A representation without the time of the last change."""
    return {name: value for name, value in item.items() if name != "last_updated"}


def _change_one_field(case: Case, item: dict[str, Any]) -> dict[str, Any] | None:
    """Changes one field that others read back; returns the object afterwards, ``None`` when nothing can be changed."""
    for field, value in case.changes():
        if field.write_only or field.confidential or field.name in case.endpoint.masked_columns:
            continue
        response = case.api.send("PATCH", case.at(item), {field.name: value}, status=(200, 400))
        changed: dict[str, Any] = case.read(item)
        if response.status_int == 200 and _own(changed) != _own(item):
            return changed
    return None


@check(_is_recorded)
def a_creation_is_reverted_by_deletion(case: Case) -> None:
    """The object is gone afterwards; the revert can be reverted in turn."""
    item = case.make()
    answer = case.api.post(_change_of(case, item, CREATE), status=200)
    assert [entry["action"] for entry in answer["objects"] if entry["changed_object_id"] == item["id"]] == [DELETE]
    case.api.get(case.at(item), status=404)
    case.api.post(_change_of(case, item, CREATE), status=409)
    case.api.post(_change_of(case, item, DELETE), status=200)
    assert _own(case.read(item)) == _own(item)


@check(_is_recorded)
def an_update_is_reverted_to_the_former_values(case: Case) -> None:
    """A second revert finds nothing to undo; with a later change of the field it is refused and named."""
    item = case.make()
    changed = _change_one_field(case, item)
    if changed is None:
        return
    path = _change_of(case, item, UPDATE)
    case.api.post(path, status=200)
    assert _own(case.read(item)) == _own(item)
    case.api.post(path, status=409)
    case.api.post(_change_of(case, item, UPDATE), status=200)
    assert _own(case.read(item)) == _own(changed)
    refused = case.api.post(_change_of(case, item, CREATE), status=409)
    (entry,) = refused["objects"]
    assert entry["changed_object_id"] == item["id"]
    assert all(reason["change"]["user_name"] == case.service.admin.username for reason in entry["reasons"])
    assert _own(case.read(item)) == _own(changed)


@check(_is_recorded)
def a_deletion_is_reverted_with_the_same_id_and_values(case: Case) -> None:
    """Everything that was in the representation comes back."""
    item = case.filled()
    case.api.delete(case.at(item))
    path = _change_of(case, item, DELETE)
    response = case.api.send("POST", path, status=(200, 409))
    if response.status_int == 409:
        reasons = [reason["message"] for entry in response.json["objects"] for reason in entry["reasons"]]
        assert reasons and all("change log does not keep" in reason for reason in reasons), reasons
        return
    lost = {name for entry in response.json["objects"] for name in entry["not_restored"]}
    kept = {name: value for name, value in _own(item).items() if name not in lost}
    now = case.read(item)
    assert {name: now[name] for name in kept} == kept
    case.api.post(path, status=409)


@check(_is_recorded)
def a_revert_takes_the_permission_of_its_write(case: Case) -> None:
    """Without it 403; without the permission to view the change 404."""
    item = case.make()
    path, label = _change_of(case, item, CREATE), case.endpoint.label
    log = case.registry.of_model(ObjectChange).label
    named = [case.registry.get(item[name]) for name, _ in case.endpoint.resource.about]
    viewed = [label, *(endpoint.label for endpoint in named if endpoint is not None)]
    reader = case.service.user(("view", viewed), ("view", log))
    reader.api.post(path, status=403)
    stranger = case.service.user(("view change add delete", label))
    stranger.api.post(path, status=403)
    blind = case.service.user(("view", viewed), ("view", log, {"user_name": "nobody"}))
    blind.api.post(path, status=404)
    case.service.anonymous.post(path, status=403)
    assert case.read(item) == item
