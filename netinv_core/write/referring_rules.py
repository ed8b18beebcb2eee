"""Rules that read other objects: they run again for the objects that refer, when what they read has changed.

A rule names what it reads, ``interfaces.rule(reads=[through("lag", "device_id", "type")])``. A write that changes one
of these columns of an interface runs the rule for the interfaces that have it as their LAG, after the rows are written
and ``after_save`` functions have run: the rule sees the state after the batch. What it rejects is an error of the
object in the request. Writes that change none of these columns do nothing more.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Conflict
from netinv_core.fields import ToMany
from netinv_core.labels import capitalize
from netinv_core.models.columns import column_info
from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write.draft import ALL, Draft
from netinv_core.write.reading_rules import Condition, Pairs
from netinv_core.write.reading_rules import Reading as Reading
from netinv_core.write.reading_rules import ReadingRule as ReadingRule

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork

MAX_NAMED = 10  # objects in the message of a refusal
HIDDEN = "Another object that refers to this one would break a rule."


def through(
    path: str,
    *columns: str,
    where: Condition | None = None,
    when: Callable[[Draft], bool] | None = None,
    exclusive: bool = False,
    to_root: bool = False,
) -> Reading:
    """Columns that a rule reads of the objects at the end of a path of references, such as ``lag.device``.

    :param where: condition of the objects that read the path, given their table
    :param when: the same of a draft
    :param exclusive: one transaction at a time judges by these objects, as the rule is about all that refer to them, or
        locks them itself: two transactions with a shared lock would each wait for the other
    :param to_root: the last step, to the parent in a tree, leads on to the parent of the parent, up to the root
    """
    return Reading(columns, path, where, when, exclusive, to_root)


def related_by(to: str, *columns: str, pairs: Pairs, by: tuple[str, ...] = ()) -> Reading:
    """Columns that a rule reads of related objects.

    :param to: the label of the related objects
    :param columns: their columns
    :param pairs: ``pairs(uow, keys)`` selects the ids of related objects among ``keys``, with those of the objects that
        the rule is about
    :param by: the columns of the latter that refer to the related objects
    """
    return Reading(columns, to=to, pairs=pairs, by=by)


@dataclasses.dataclass(frozen=True, eq=False)
class Referring:
    """A rule of ``endpoint`` that reads columns of another model, seen from that model."""

    endpoint: Endpoint
    rule: ReadingRule
    reading: Reading


@cached_in_registry
def by_target(registry: Registry) -> dict[Any, list[Referring]]:
    """Returns the rules that read each table."""
    found: dict[Any, list[Referring]] = {}
    for endpoint in registry.endpoints.values():
        for rule in (rule for rule in endpoint.rules if isinstance(rule, ReadingRule)):
            for reading in rule.reads:
                target = _target(registry, endpoint, reading)
                if target is not None:
                    found.setdefault(target, []).append(Referring(endpoint, rule, reading))
    return found


def _target(registry: Registry, endpoint: Endpoint, reading: Reading) -> Any:
    """The table that a rule reads; ``None`` when the package of its model is not there."""
    if reading.pairs is not None:
        target = registry.get(reading.to)
        return None if target is None else target.table
    table = endpoint.table
    for step in reading.path.split("."):
        field = endpoint.fields.get(step) if table is endpoint.table else None
        if isinstance(field, ToMany):
            if field.target is None:
                return None
            table = field.target.table
        else:
            table = _referred_table(registry, table, step)
        if table is None:
            return None
    return table


def _referred_table(registry: Registry, table: Any, step: str) -> Any:
    """The table that a foreign key refers to; ``None`` when the package of its model is not there."""
    target = registry.target(column_info(table.c[f"{step}_id"]).foreign_key)
    return None if target is None else target.table


def _select_pairs(uow: UnitOfWork, referring: Referring, keys: Sequence[Any]) -> Any:
    """SELECT of the ids of changed objects, and of those to be checked that refer to them."""
    reading, endpoint = referring.reading, referring.endpoint
    if reading.pairs is not None:
        return reading.pairs(uow, keys)
    start = endpoint.table.alias()
    first, *rest = reading.path.split(".")
    field, table, joined = endpoint.fields.get(first), endpoint.table, start
    if isinstance(field, ToMany) and field.target is not None:
        pairs = field.pairs.alias()
        joined, column, table = start.join(pairs, pairs.c.owner_id == start.c.id), pairs.c.target_id, field.target.table
    else:
        column, table = start.c[f"{first}_id"], _referred_table(uow.registry, table, first)
    for step in rest:
        target = table.alias()
        joined = joined.join(target, target.c.id == column)
        column, table = target.c[f"{step}_id"], _referred_table(uow.registry, table, step)
    conditions = [] if reading.where is None else [reading.where(start)]
    return sa.select(column, start.c.id).select_from(joined).where(column.in_(list(keys)), *conditions)


# Objects to be checked, by id, each with the draft of the request and the column whose change is the reason.
Causes = dict[Any, tuple[Draft, str]]


def check(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Runs the rules of objects that refer to changed ones; rejects the drafts whose change breaks one."""
    if endpoint.table not in by_target(uow.registry):
        return
    changed = {draft.id: draft for draft in drafts if not draft.new}

    def columns_of(names: Sequence[str]) -> Causes:
        return {key: (draft, name) for key, draft in changed.items() for name in reversed(names) if draft.changed(name)}

    _run_all(uow, _referring_causes(uow, endpoint, columns_of))


def check_followers(uow: UnitOfWork, changes: Sequence[Change], drafts: Sequence[Draft]) -> None:
    """Runs the reading rules of objects that ``after_save`` functions changed, and of those that refer to them.

    What they reject is an error of the first of the drafts that changes anything.
    """
    updates: dict[Endpoint, list[Change]] = {}
    for change in changes:
        if change.before is not None and change.after is not None:
            updates.setdefault(change.endpoint, []).append(change)
    found: dict[ReadingRule, tuple[Endpoint, Causes]] = {}
    for endpoint, group in updates.items():
        own = [rule for rule in endpoint.rules if isinstance(rule, ReadingRule)]
        if not own and endpoint.table not in by_target(uow.registry):
            continue
        causes_of = functools.partial(_follower_causes, group, origin(drafts))
        _referring_causes(uow, endpoint, causes_of, found)
        for rule in own:
            if keys := causes_of(rule.own_columns(endpoint)):
                known = found.setdefault(rule, (endpoint, {}))[1]
                known.update({key: cause for key, cause in keys.items() if key not in known})
    _run_all(uow, found)


def origin(drafts: Sequence[Draft]) -> tuple[Draft, str]:
    """The first draft that changes a field, and the column of the field."""
    for draft in drafts:
        for name in draft.values:
            if draft.changed(name) and name.removesuffix("_id") in draft.endpoint.writable:
                return draft, name
    return drafts[0], ALL


def _follower_causes(changes: Sequence[Change], origin: tuple[Draft, str], names: Sequence[str]) -> Causes:
    """The changes of which the representation differs in the field of one of the columns."""
    fields = [name.removesuffix("_id") for name in names]
    return {
        change.key: origin
        for change in changes
        if any((change.before or {}).get(field) != (change.after or {}).get(field) for field in fields)
    }


def _referring_causes(
    uow: UnitOfWork,
    endpoint: Endpoint,
    causes_of: Callable[[Sequence[str]], Causes],
    found: dict[ReadingRule, tuple[Endpoint, Causes]] | None = None,
) -> dict[ReadingRule, tuple[Endpoint, Causes]]:
    """The rules to run, and the objects that refer to those of which a column changed."""
    rules = {} if found is None else found
    for referring in by_target(uow.registry).get(endpoint.table, ()):
        if causes := causes_of(referring.reading.columns):
            known = rules.setdefault(referring.rule, (referring.endpoint, {}))[1]
            for target, key in uow.execute(_select_pairs(uow, referring, list(causes))):
                known.setdefault(key, causes[target])
    return rules


def _run_all(uow: UnitOfWork, rules: Mapping[ReadingRule, tuple[Endpoint, Causes]]) -> None:
    """Runs each rule for its objects."""
    for rule, (endpoint, causes) in rules.items():
        _run(uow, endpoint, rule, causes)


def _run(uow: UnitOfWork, endpoint: Endpoint, rule: ReadingRule, causes: Causes) -> None:
    """Runs a rule for objects that refer to changed ones."""
    if not causes:
        return
    table = endpoint.table
    statement = sa.select(table).where(in_parameter(table.c.id)).order_by(table.c.id)
    rows = uow.execute(statement, {"keys": list(causes)}).mappings()
    referring = [Draft(endpoint, {}, dict(row), rechecked=True) for row in rows]
    _load_lists(uow, endpoint, rule, referring)
    rule(uow, referring)
    broken = {draft.id: draft for draft in referring if draft.errors}
    if not broken:
        return
    names = listing.visible_names(uow, endpoint, broken)
    for key, draft in broken.items():
        on, column = causes[key]
        field = column.removesuffix("_id")
        field = field if field in on.endpoint.writable else ALL
        messages = [message for texts in draft.errors.values() for message in texts]
        text = [sentence(endpoint, names.get(key), message) for message in messages]
        on.reject(field, *(message for message in dict.fromkeys(text) if message not in on.errors.get(field, ())))


def _load_lists(uow: UnitOfWork, endpoint: Endpoint, rule: ReadingRule, drafts: Iterable[Draft]) -> None:
    """Adds to drafts the lists of objects that their rule reads: one SELECT for each list."""
    names = {reading.path.partition(".")[0] for reading in rule.reads if reading.path}
    by_id = {draft.id: draft for draft in drafts}
    for name in sorted(names):
        field = endpoint.fields.get(name)
        if isinstance(field, ToMany):
            pairs = field.pairs
            for draft in by_id.values():
                draft.many[name] = []
            owned = sa.select(pairs.c.owner_id, pairs.c.target_id).where(pairs.c.owner_id.in_(list(by_id)))
            for owner, target in uow.execute(owned):
                by_id[owner].many[name].append(target)


def refusal(uow: UnitOfWork, broken: Sequence[tuple[Endpoint, Any, str]]) -> Conflict:
    """The error of a deletion that objects do not permit, each with its reason.

    Objects that the user may not view are not named, and neither are their reasons.
    """
    keys: dict[Endpoint, list[Any]] = {}
    for endpoint, key, _ in broken:
        keys.setdefault(endpoint, []).append(key)
    named = {endpoint: listing.visible_names(uow, endpoint, of_endpoint) for endpoint, of_endpoint in keys.items()}
    reasons = [sentence(endpoint, named[endpoint].get(key), reason) for endpoint, key, reason in broken]
    listed = list(dict.fromkeys(reasons))
    more = f" And {len(listed) - MAX_NAMED} more." if len(listed) > MAX_NAMED else ""
    error = Conflict(f"Unable to delete object. {' '.join(listed[:MAX_NAMED])}{more}")
    error.objects = [(endpoint.label, key, name) for endpoint, names in named.items() for key, name in names.items()]
    return error


def sentence(endpoint: Endpoint, name: str | None, reason: str) -> str:
    """The reason of an object with its name; without both where the user may not view it."""
    return HIDDEN if name is None else f"{capitalize(endpoint.title)} {name}: {reason}"
