"""Closed writes: what the API answers 405, neither upserts, undo nor the write path does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.changelog.change_set import Change
from netinv_core.changelog.models import CREATE, DELETE, UPDATE, ObjectChange
from netinv_core.errors import Denied, error_text
from netinv_core.http.methods import PERMISSIONS
from netinv_core.models.base import table_of
from netinv_core.resource import WRITES
from netinv_core.write import delete, offered, save, upsert
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

UNDONE_BY = {"add": DELETE, "change": UPDATE, "delete": CREATE}  # the action whose undo takes a permission


@check(lambda endpoint: endpoint.resource.writes != WRITES)
def what_the_api_does_not_write_nothing_else_writes(case: Case) -> None:
    """Every other way to create, change or delete such objects is refused, and the refusal says what cannot be done."""
    item = case.make()
    for action in sorted(WRITES - case.endpoint.resource.writes):
        said = offered.refusal(case.endpoint, action)
        assert said is not None and offered.WORDS[action] in said
        _insist_on_405(case, action, item)
        before = case.service.row_counts()
        assert said in _refused_write(case, action, item)
        if action == "add" and "change" in case.endpoint.resource.writes:
            assert said in _refused_upsert(case)
        assert case.service.row_counts() == before
        assert not case.endpoint.resource.recorded or said in _refused_undo(case, action, item)
    if case.endpoint.resource.of is None:
        assert case.read(item) == item


def _insist_on_405(case: Case, action: str, item: dict[str, Any]) -> None:
    """Sends the methods of an action to the list and to the object."""
    for method in sorted(method for method, permission in PERMISSIONS.items() if permission == action):
        case.api.send(method, case.path, [{"id": item["id"]}], status=405)
        if case.endpoint.resource.of is None and method != "POST":
            case.api.send(method, case.at(item), {}, status=405)


def _refused_write(case: Case, action: str, item: dict[str, Any]) -> str:
    """The error of a write by an administrator, as jobs, plans and imports do it."""
    writes: dict[str, Callable[[UnitOfWork], object]] = {
        "add": lambda uow: save.create(uow, case.endpoint, [{}]),
        "change": lambda uow: save.update(uow, case.endpoint, [{"id": str(item["id"])}], partial=True),
        "delete": lambda uow: delete.delete(uow, case.endpoint, [{"id": str(item["id"])}]),
    }
    with case.service.unit_of_work() as uow:
        try:
            writes[action](uow)
        except Denied as error:
            return error_text(error.body)
    return ""


def _refused_upsert(case: Case) -> str:
    """The error of an upsert that would create an object."""
    names = [name for name in case.endpoint.writable if upsert.identifies(case.endpoint, name)]
    body = {names[0]: case.unique()}
    answers = [
        case.api.patch(case.path, [body], query={"match": names[0], **query}, status=status)
        for query, status in (({}, 403), ({"on_error": "continue"}, 200))
    ]
    assert answers[1] == [{"status": "failed", "errors": answers[0][0] if isinstance(answers[0], list) else answers[0]}]
    return error_text(answers[0])


def _refused_undo(case: Case, action: str, item: dict[str, Any]) -> str:
    """The error of the undo of a change that another version of the package recorded."""
    key, done = uuid.UUID(item["id"]), UNDONE_BY[action]
    before = None if done == CREATE else {**item, "display": case.unique()}
    after = None if done == DELETE else item
    with case.service.unit_of_work() as uow:
        uow.change_set.add(Change(case.endpoint, key, done, before, after, {}))
        uow.change_set.write(uow)
    table = table_of(ObjectChange)
    (row,) = case.service.rows(
        sa.select(table.c.id)
        .where(table.c.changed_object_id == key, table.c.action == done)
        .order_by(table.c.time.desc(), table.c.position.desc())
        .limit(1)
    )
    path = f"{case.registry.of_model(ObjectChange).path}{row.id}/revert/"
    return error_text([entry["reasons"] for entry in case.api.post(path, status=409)["objects"]])
