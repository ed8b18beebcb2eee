"""References to objects that another transaction deleted after they were looked up.

The database finds them by its foreign keys. They get the messages of references that match no object.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.fields import Reference, ToMany
from netinv_core.write.reference_messages import NO_SUCH_ID, message

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

# PostgreSQL: Key (site_id)=(0b1f…) is not present in table …; MariaDB, MySQL: … FOREIGN KEY (`site_id`) REFERENCES …
_VIOLATION = re.compile(r"Key \((?P<column>\w+)\)=\((?P<key>.*?)\) is not present|FOREIGN KEY \(`(?P<name>\w+)`\)")


def reject_references(uow: UnitOfWork, drafts: Sequence[Draft], error: Exception) -> bool:
    """Rejects the drafts whose INSERT or UPDATE violated a foreign key; returns False when the error names none."""
    violation = _VIOLATION.search(str(getattr(error, "orig", error)))
    if violation is None:
        return False
    attribute = violation["column"] or violation["name"]
    found = False
    for field in _references(drafts[0].endpoint, attribute):
        missing = _missing_ids(uow, field.target, {draft[attribute] for draft in drafts} - {None}, violation["key"])
        for draft in drafts:
            if (key := draft[attribute]) in missing:
                draft.reject(field.name, message(NO_SUCH_ID, field.target, key, plain=field.plain))
                found = True
    return found


def reject_list(uow: UnitOfWork, field: Field, drafts: Sequence[Draft], error: Exception) -> bool:
    """Rejects the drafts whose list ``field`` violated a foreign key; returns False when the error names none."""
    violation = _VIOLATION.search(str(getattr(error, "orig", error)))
    if violation is None or not isinstance(field, ToMany):
        return False
    lists = {draft: draft.many.get(field.name, []) for draft in drafts}
    missing = _missing_ids(uow, field.target, {key for keys in lists.values() for key in keys}, violation["key"])
    for draft, keys in lists.items():
        if gone := [key for key in keys if key in missing]:
            field.reject(draft, [message(NO_SUCH_ID, field.target, key, plain=field.plain) for key in gone])
    return bool(missing)


def _references(endpoint: Endpoint, attribute: str) -> list[Reference]:
    """The field of a foreign key, if it has one."""
    return [f for f in endpoint.writable.values() if isinstance(f, Reference) and f.attribute == attribute]


def _missing_ids(uow: UnitOfWork, target: Endpoint | None, keys: Collection[Any], named: str | None) -> set[Any]:
    """The ids without an object: the one that the database names, or those that it does not have.

    MariaDB names none, but goes on with the transaction after the error. PostgreSQL does not.
    """
    if named is not None:
        return {key for key in keys if str(key) == named}
    if target is None or not keys:
        return set()
    table = target.table
    statement = sa.select(table.c.id).where(in_parameter(table.c.id))
    return set(keys) - set(uow.execute(statement, {"keys": list(keys)}).scalars())
