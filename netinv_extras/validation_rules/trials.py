"""``validation-rules/{id}/try/``: whether one object keeps a rule, part by part, and since when it does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from pyramid.request import Request

from netinv_core.auth import permissions
from netinv_core.changelog.differences import differences
from netinv_core.changelog.models import CREATE, ObjectChange
from netinv_core.changelog.states import record_columns
from netinv_core.errors import Invalid
from netinv_core.fields.schema import REQUIRED
from netinv_core.http import views
from netinv_core.http.actions import documented
from netinv_core.http.query_parameters import query
from netinv_core.http.serialization import single_value
from netinv_core.models.base import CUSTOM_FIELD_PREFIX, table_of
from netinv_core.read import listing
from netinv_core.read.past_states import has_history
from netinv_core.write.reference_messages import NO_SUCH_ID
from netinv_extras.validation_rules import conditions, judging
from netinv_extras.validation_rules.models import CONDITIONS
from netinv_extras.validation_rules.violations import row_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

OBJECT, UNIQUE = "object", "unique_together"
MAX_CHANGES = 50  # that are looked through for the one since which a rule is broken
_change = table_of(ObjectChange)
_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
_PART = {
    "type": "object",
    "properties": {
        "condition": {"type": "string", "enum": [*CONDITIONS, UNIQUE]},
        "name": {"type": "string", "description": "A name of the condition; of unique fields, all of their names."},
        "value": {"nullable": True, "description": "What the rule has under the name."},
        "holds": _FLAG,
    },
}
_SINCE = {
    "type": "object",
    "nullable": True,
    "description": "The last change of the object in what the rule reads.",
    "properties": {
        "time": {"type": "string", "format": "date-time"},
        "user_name": _TEXT,
        "request_id": {"type": "string", "format": "uuid"},
        "change": {"type": "string", "format": "uuid", "description": "The id of the change record."},
    },
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "applies": {"type": "boolean", "description": "The rule is about the object."},
        "broken": {"type": "boolean", "description": "The object breaks the rule."},
        "message": _TEXT,
        "parts": {"type": "array", "items": _PART},
        "since": _SINCE,
    },
}
_QUERY = [query(OBJECT, {"type": "string", "format": "uuid"}, "The id of an object of the rule's content type.")]


@dataclasses.dataclass(frozen=True)
class TriedPart:
    """A name of a condition with its value, or the fields that are unique together, and whether the object meets it."""

    condition: str
    name: str
    value: Any
    holds: bool


@dataclasses.dataclass(frozen=True)
class ChangeSince:
    """The change of an object since which it may break a rule: the last one of what the rule reads."""

    time: Any
    user_name: str
    request_id: Any
    change: Any


@dataclasses.dataclass(frozen=True)
class Trial:
    """The judgement of one object by a rule, whether that is enabled or not."""

    applies: bool
    broken: bool
    message: str
    parts: Sequence[TriedPart]
    since: ChangeSince | None


def try_rule(uow: UnitOfWork, key: Any, object_key: Any) -> Trial:
    """Judges an object as the user sees it. Takes one statement, and another one where the rule is broken.

    :raises NotFound: for a rule that does not exist
    :raises Invalid: for one that its content type does not know any more, and for an object that the user may not view
    """
    endpoint, row = row_of(uow, key)
    rule = judging.rule_of(uow, endpoint, row)
    given = [(name, *item) for name in CONDITIONS for item in (row[name] or {}).items()]
    parts = [conditions.condition(uow, endpoint, {name: value}) for _, name, value in given]
    if rule.unique:
        given.append((UNIQUE, ", ".join(rule.unique), list(rule.unique)))
        parts.append(judging.is_unique(uow, endpoint, rule))
    statement = conditions.select_flags(endpoint, [rule.applies, rule.broken, *parts])
    limits = permissions.visible(uow, endpoint, endpoint.table)
    found = uow.execute(statement.where(*limits), {"keys": [object_key]}).first()
    if found is None:
        raise Invalid.field(OBJECT, NO_SUCH_ID.format(object_key))
    _, applies, broken, *flags = found
    tried = [TriedPart(of, name, value, bool(flag)) for (of, name, value), flag in zip(given, flags, strict=True)]
    since = changes_since(uow, endpoint, object_key, [rule])[0] if broken else None
    return Trial(bool(applies), bool(broken), rule.text, tried, since)


def changes_since(
    uow: UnitOfWork, endpoint: Endpoint, key: Any, rules: Sequence[judging.JudgedRule]
) -> list[ChangeSince | None]:
    """For each rule, the last change of an object in what it reads, among the newest changes that the user may view.

    One statement.
    """
    if not has_history(endpoint):
        return [None] * len(rules)
    limits = permissions.visible(uow, uow.registry.of_model(ObjectChange), _change)
    columns = record_columns(("id", "time", "user_name", "request_id", "action", "before", "after"))
    statement = sa.select(*columns).where(
        _change.c.changed_object_id == key, _change.c.changed_object_type == endpoint.label, *limits
    )
    records = uow.execute(statement.order_by(_change.c.time.desc()).limit(MAX_CHANGES)).all()
    found: list[ChangeSince | None] = [None] * len(rules)
    for record in records:
        names = {item.field for item in differences(uow.registry, endpoint.label, record.before, record.after)}
        for number, rule in enumerate(rules):
            if found[number] is None and (record.action == CREATE or _is_read(rule.reads, names)):
                found[number] = ChangeSince(record.time, record.user_name, record.request_id, record.id)
        if None not in found:
            break
    return found


def _is_read(reads: frozenset[str] | None, names: set[str]) -> bool:
    """True when a rule reads one of the fields of a difference (``field`` or ``field.member``)."""
    if reads is None:
        return bool(names)
    own = {name.removesuffix("_id") for name in reads if not name.startswith(CUSTOM_FIELD_PREFIX)}
    members = {
        f"custom_fields.{name.removeprefix(CUSTOM_FIELD_PREFIX)}"
        for name in reads
        if name.startswith(CUSTOM_FIELD_PREFIX)
    }
    return any(name in members or name.partition(".")[0] in own for name in names)


@documented(_SCHEMA, query=_QUERY)
def try_object(request: Request) -> Mapping[str, Any]:
    """Judges one object by a rule, whether that is enabled or not."""
    uow, key = request.uow, views.key_of(request)
    listing.detail(uow, request.context.endpoint, key, shape="nested")
    endpoint, _ = row_of(uow, key)
    text = single_value(uow.query, OBJECT)
    if not text:
        raise Invalid.field(OBJECT, REQUIRED)
    object_key = endpoint.parse_key(text)
    if object_key is None:
        raise Invalid.field(OBJECT, NO_SUCH_ID.format(text[:100]))
    return dataclasses.asdict(try_rule(uow, key, object_key))


def includeme(config: Any) -> None:
    """Adds ``validation-rules/{id}/try/``."""
    config.add_netinv_action("extras/validation-rules", "try", get=try_object, permission="view")
