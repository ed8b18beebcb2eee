"""Requirements: which review rules changes meet, who has approved, and the refusal of direct writes.

A rule is met by an object that it is about before the change or after it. Before: the guard looks under the lock, ahead
of the first change of the object in a unit of work. After: the rows are asked once all changes are made. Each takes one
statement for a model with constrained rules, whatever the number of objects; none without.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa

from netinv_core.auth import permissions
from netinv_core.auth.models import Group, user_groups
from netinv_core.changelog.differences import is_equal, is_own, members
from netinv_core.changelog.guards import ChangeGuard, Marks, as_author
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Denied
from netinv_core.models.base import table_of
from netinv_core.sql import relations
from netinv_extras.change_requests.models import (
    RULE_LABEL,
    event_table,
    required_table,
    rule_groups,
    rule_table,
    rule_types,
)

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

RULES, SEEN, REVIEWED = "review rules", "review rules before", "reviewed"  # members of the state of guards
REFUSED = (
    "Changes of {} need a review ({}). Propose them in a change request instead: "
    "/api/extras/change-requests/, and send its id as X-Change-Request."
)
REASON = "Changes of {} need a review ({}): propose them."
_EMPTY: tuple[Any, ...] = (None, "", [], {})
_groups = table_of(Group)
Identity = tuple[str, Any]  # label and id of an object
RulesMet = Mapping[Identity, "frozenset[Rule]"]


class ReviewRequired(Denied):
    """403: the changes need a review by these rules."""

    code = "review_required"

    def __init__(self, by_rule: Mapping[Rule, Sequence[ReviewedObject]]) -> None:
        items = [item for found in by_rule.values() for item in found]
        self._models = " and ".join(sorted({item.endpoint.plural for item in items}))
        self._rules = ", ".join(rule.name for rule in by_rule)
        self.objects = {(item.endpoint.label, item.key) for item in items}
        super().__init__(REFUSED.format(self._models, self._rules))

    @property
    def reason(self) -> str:
        return REASON.format(self._models, self._rules)


class ReviewedObject(Protocol):
    """A change, or a proposal."""

    @property
    def endpoint(self) -> Endpoint: ...
    @property
    def key(self) -> Any: ...
    @property
    def before(self) -> Any: ...
    @property
    def after(self) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Rule:
    """An enabled rule, with the ids and names of its groups."""

    key: uuid.UUID
    name: str
    constraints: Any = dataclasses.field(hash=False)
    field_names: frozenset[str]
    approvals: int
    limited: bool
    groups: Mapping[int, str] = dataclasses.field(hash=False)

    def concerns(self, item: ReviewedObject) -> bool:
        """True for a change of one of the fields: a new or deleted object changes those that have a value."""
        if not self.field_names:
            return True
        before, after = members(item.endpoint, item.before), members(item.endpoint, item.after)
        for name in {**before, **after}:
            if self.field_names.isdisjoint((name, name.partition(".")[0])) or not is_own(item.endpoint, name):
                continue
            if item.before is None or item.after is None:
                if {**before, **after}[name] not in _EMPTY:
                    return True
            elif not is_equal(item.endpoint, name, before.get(name), after.get(name)):
                return True
        return False


@dataclasses.dataclass(frozen=True)
class RuleProgress:
    """The approvals that a rule asks of a change request, and the names of those who have approved."""

    rule: Rule
    approved_by: Sequence[str]

    @property
    def missing(self) -> int:
        """The number of approvals that are missing."""
        return max(0, self.rule.approvals - len(self.approved_by))

    @property
    def shown(self) -> dict[str, Any]:
        """The member of a review."""
        rule = self.rule
        return {
            "id": rule.key,
            "name": rule.name,
            "needed": rule.approvals,
            "missing": self.missing,
            "groups": sorted(rule.groups.values()),
            "approved_by": list(self.approved_by),
        }

    @property
    def text(self) -> str:
        """The state in words: ``Core sites: 1 of 2 approvals, by members of Network``."""
        return f"{self.rule.name}: {self.asked}"

    @property
    def asked(self) -> str:
        """The approvals that the rule asks, in words."""
        words = f"{len(self.approved_by)} of {self.rule.approvals} approvals"
        if not self.rule.limited:
            return words
        names = " or ".join(sorted(self.rule.groups.values()))
        return f"{words}, by members of {names}" if names else f"{words}; its groups do not exist any more"


def enabled_rules(uow: UnitOfWork) -> Mapping[str, Sequence[Rule]]:
    """The enabled rules by the labels of their models, as the unit of work first saw them; cached with the
    configuration.
    """
    if RULES not in uow.guard_state:
        uow.guard_state[RULES] = uow.cached_config(RULES, _load)
    rules: Mapping[str, Sequence[Rule]] = uow.guard_state[RULES]
    return rules


def _load(uow: UnitOfWork) -> dict[str, list[Rule]]:
    """The rules; three statements, one where there are none."""
    table = rule_table
    rows = uow.execute(sa.select(table).where(table.c.enabled).order_by(table.c.name)).mappings().all()
    if not rows:
        return {}
    groups: dict[uuid.UUID, dict[int, str]] = {}
    named = sa.select(rule_groups.c.owner_id, _groups.c.id, _groups.c.name)
    for owner, key, name in uow.execute(named.where(rule_groups.c.target_id == _groups.c.id)).tuples():
        groups.setdefault(owner, {})[key] = name
    types: dict[uuid.UUID, list[str]] = {}
    for owner, label in uow.execute(sa.select(rule_types.c.owner_id, rule_types.c.label)).tuples():
        types.setdefault(owner, []).append(label)
    by_label: dict[str, list[Rule]] = {}
    for row in rows:
        names = frozenset(row["field_names"] or ())
        of = groups.get(row["id"], {})
        rule = Rule(row["id"], row["name"], row["constraints"], names, row["approvals"], row["limited"], of)
        for label in types.get(row["id"], ()):
            by_label.setdefault(label, []).append(rule)
    return by_label


# -- the match of objects


def _match_rules(
    uow: UnitOfWork, endpoint: Endpoint, rules: Sequence[Rule], keys: Sequence[Any]
) -> dict[Any, frozenset[Rule]]:
    """The rules that objects meet as they are now, by id; one statement, none without constraints."""
    always = frozenset(rule for rule in rules if not rule.constraints)
    constrained = [rule for rule in rules if rule.constraints]
    if not constrained or not keys:
        return dict.fromkeys(keys, always)
    columns = [sa.case((_condition(endpoint, rule), 1), else_=0) for rule in constrained]
    statement = sa.select(endpoint.table.c.id, *(column.label(f"rule_{n}") for n, column in enumerate(columns)))
    clause = in_parameter(endpoint.table.c.id)
    rows = uow.execute(statement.where(clause), {"keys": list(keys)}).tuples()
    return {key: always | {rule for rule, flag in zip(constrained, flags, strict=True) if flag} for key, *flags in rows}


def _condition(endpoint: Endpoint, rule: Rule) -> Any:
    """The condition of a rule; true for constraints that are not valid any more."""
    try:
        return relations.constraint_condition(endpoint, endpoint.table, rule.constraints)
    except (ValueError, TypeError):
        return sa.true()


def look(uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> None:
    """Keeps which rules objects meet before their first change."""
    rules = enabled_rules(uow).get(endpoint.label)
    if not rules:
        return
    seen = uow.guard_state.setdefault(SEEN, {}).setdefault(endpoint.label, {})
    new = [key for key in keys if key not in seen]
    matches = _match_rules(uow, endpoint, rules, new)
    seen.update((key, matches.get(key, frozenset())) for key in new)


def matches(uow: UnitOfWork, items: Iterable[ReviewedObject]) -> dict[Identity, frozenset[Rule]]:
    """The rules that changed objects meet, before or after the change, while the changes are made.

    An object whose former state nobody looked at is taken to meet every rule of its model.
    """
    rules, seen = enabled_rules(uow), uow.guard_state.get(SEEN, {})
    concerned: dict[Endpoint, dict[Any, ReviewedObject]] = {}
    for item in items if rules else ():
        if item.endpoint.label in rules:
            concerned.setdefault(item.endpoint, {})[item.key] = item
    found: dict[Identity, frozenset[Rule]] = {}
    for endpoint, by_key in concerned.items():
        own = rules[endpoint.label]
        present = [key for key, item in by_key.items() if item.after is not None]
        after = _match_rules(uow, endpoint, own, present)
        before = seen.get(endpoint.label, {})
        for key, item in by_key.items():
            former = before.get(key, frozenset(own)) if item.before is not None else frozenset()
            found[endpoint.label, key] = former | after.get(key, frozenset())
    return found


def rules_met(items: Iterable[ReviewedObject], found: RulesMet) -> dict[Rule, list[ReviewedObject]]:
    """The changes that meet rules, by these, in the order of their names."""
    by_rule: dict[Rule, list[ReviewedObject]] = {}
    for item in items:
        for rule in found.get((item.endpoint.label, item.key), ()):
            if rule.concerns(item):
                by_rule.setdefault(rule, []).append(item)
    return {rule: by_rule[rule] for rule in sorted(by_rule, key=lambda rule: rule.name)}


# -- direct writes


def check(uow: UnitOfWork, changes: Sequence[Change]) -> Marks:
    """Refuses direct changes of objects under a rule, but for those who may bypass it: the names of the rules mark
    these. What a merge made is reviewed.

    :raises ReviewRequired: naming the rules
    """
    if uow.aside or not enabled_rules(uow):
        return {}
    reviewed = uow.guard_state.get(REVIEWED, ())
    direct = [change for change in changes if (change.endpoint.label, change.key) not in reviewed]
    by_rule = rules_met(direct, matches(uow, direct))
    if not by_rule:
        return {}
    permitted = _bypassable(uow, [rule.key for rule in by_rule])
    if refused := {rule: items for rule, items in by_rule.items() if rule.key not in permitted}:
        raise ReviewRequired(refused)
    marks: dict[Identity, str] = {}
    for rule, items in by_rule.items():
        for item in items:
            name = item.endpoint.label, item.key
            marks[name] = f"{marks[name]}, {rule.name}" if name in marks else rule.name
    return marks


def expected_rules(uow: UnitOfWork, endpoint: Endpoint, key: Any = None) -> tuple[list[Rule], list[Rule]]:
    """The rules by which every change of an object, or of a resource, by the user would be refused, and those by which
    some would; two statements at most, none where there are no rules.
    """
    rules = enabled_rules(uow).get(endpoint.label, ())
    if key is not None and rules:
        matching = _match_rules(uow, endpoint, rules, [key]).get(key, frozenset())
        rules = [rule for rule in rules if rule in matching]
    permitted = _bypassable(uow, [rule.key for rule in rules]) if rules else set()
    every: list[Rule] = []
    some: list[Rule] = []
    for rule in rules:
        if rule.key not in permitted:
            (some if rule.field_names or (key is None and rule.constraints) else every).append(rule)
    return every, some


def _bypassable(uow: UnitOfWork, keys: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """The rules that the user may bypass, of these; one statement, none without constraints."""
    acting = as_author(uow)
    try:
        limits = permissions.limits(acting, uow.registry[RULE_LABEL], "bypass", rule_table)
    except Denied:
        return set()
    if not limits or not keys:
        return set(keys)
    clause = in_parameter(rule_table.c.id)
    return set(uow.execute(sa.select(rule_table.c.id).where(clause, *limits), {"keys": list(keys)}).scalars())


def pass_as_reviewed(uow: UnitOfWork, items: Iterable[ReviewedObject]) -> None:
    """Lets the guard pass the changes of a merge, whose approvals were checked."""
    uow.guard_state.setdefault(REVIEWED, set()).update((item.endpoint.label, item.key) for item in items)


GUARD = ChangeGuard(look, check)


# -- what change requests need


def store(uow: UnitOfWork, key: uuid.UUID, rules: Iterable[Rule]) -> None:
    """Stores which rules a change request meets; one statement where they are the same as before."""
    table = required_table
    of_request = table.c.change_request_id == key
    kept = set(uow.execute(sa.select(table.c.rule_id).where(of_request)).scalars())
    wanted = {rule.key for rule in rules}
    if kept - wanted:
        uow.execute(sa.delete(table).where(of_request, table.c.rule_id.in_(kept - wanted)))
    rows = [{"id": uuid.uuid4(), "change_request_id": key, "rule_id": rule} for rule in wanted - kept]
    if rows:
        uow.execute(sa.insert(table), rows)


def stored_rules(uow: UnitOfWork, key: uuid.UUID) -> list[Rule]:
    """The enabled rules that a change request meets, as stored; one statement, none where there are no rules."""
    rules = {rule.key: rule for by_label in enabled_rules(uow).values() for rule in by_label}
    if not rules:
        return []
    statement = sa.select(required_table.c.rule_id).where(required_table.c.change_request_id == key)
    found = [rules[rule] for rule in uow.execute(statement).scalars() if rule in rules]
    return sorted(found, key=lambda rule: rule.name)


def progress(
    uow: UnitOfWork, key: uuid.UUID, rules: Iterable[Rule], further: tuple[uuid.UUID | None, str] | None = None
) -> list[RuleProgress]:
    """The progress of rules by the approvals that count, at the end with a ``further`` one; two statements at most."""
    rules = list(rules)
    if not rules:
        return []
    counted = sa.select(event_table.c.user_id, event_table.c.user_name)
    statement = counted.where(event_table.c.change_request_id == key, event_table.c.counts)
    names = {user: name for user, name in uow.execute(statement.order_by(event_table.c.time)).tuples() if user}
    if further is not None:
        names |= dict([further])
    groups: dict[uuid.UUID, set[int]] = {}
    if names and any(rule.limited for rule in rules):
        clause = in_parameter(user_groups.c.owner_id)
        found = uow.execute(
            sa.select(user_groups.c.owner_id, user_groups.c.target_id).where(clause), {"keys": [*names]}
        )
        for user, group in found.tuples():
            groups.setdefault(user, set()).add(group)
    return [
        RuleProgress(
            rule,
            [name for user, name in names.items() if not rule.limited or groups.get(user, set()) & rule.groups.keys()],
        )
        for rule in rules
    ]
