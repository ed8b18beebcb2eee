"""Judging of changes by the conditions of webhooks and job hooks, within the transaction of the write.

Objects are asked what they match before their first change, when the guards look at them, and after it, when its
record is written: a statement each for the objects of a content type, whatever their number and that of the hooks. By
all objects, whatever the writer may view. A hook whose conditions cannot be judged is not told, which is logged.
"""

from __future__ import annotations

import dataclasses
import logging
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from netinv_core.changelog.guards import ChangeGuard
from netinv_core.errors import Invalid, error_text
from netinv_extras.change_conditions import AFTER, BEFORE, NAME, ChangeCondition, JudgedChange, compile_conditions
from netinv_extras.validation_rules.conditions import select_flags
from netinv_extras.webhooks.models import EVENTS

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

log = logging.getLogger(__name__)
NOT_SEEN = "the state before was not looked at"
States = dict[str, dict[Any, dict[str, bool]]]  # what filters said of objects, by label, id and text of the filter
Told = Mapping[Any, Collection[uuid.UUID]]  # ids of change records, by that of a hook


@dataclasses.dataclass(frozen=True, eq=False)
class ConditionalHook:
    """A webhook or job hook with conditions, for one content type and some actions. ``texts`` are those of its filters,
    by part. One with a ``fault`` is told of nothing.
    """

    key: Any
    name: str
    actions: frozenset[str]
    texts: Mapping[str, str]
    condition: ChangeCondition
    fault: str = ""


@dataclasses.dataclass(frozen=True)
class StateFilters:
    """The filters of one part of the hooks of a content type, each once, with the SELECT that says which ones hold."""

    texts: Sequence[str]
    select: Any

    def states_of(self, uow: UnitOfWork, keys: Sequence[Any]) -> dict[Any, dict[str, bool]]:
        """Evaluates the filters on the stored objects: flags by id and text of the filter. One statement, none without
        filters.
        """
        if not self.texts or not keys:
            return {}
        rows = uow.execute(self.select, {"keys": list(keys)}).tuples()
        return {key: dict(zip(self.texts, map(bool, flags), strict=True)) for key, *flags in rows}


@dataclasses.dataclass(frozen=True)
class ConditionalHooks:
    """The hooks of a content type that have conditions, with their filters by part."""

    hooks: Sequence[ConditionalHook]
    filters: Mapping[str, StateFilters]


class ChangeJudge:
    """The conditions of webhooks, or of job hooks: rows of the table ``hook``, whose content types are in ``types``."""

    def __init__(self, kind: str, hook: sa.Table, types: sa.Table) -> None:
        self.kind = kind
        self._hook, self._types = hook, types
        self._rows_key, self._states_key, self._told_key = (f"{kind}: {name}" for name in (NAME, "states", "told"))
        self.guard = ChangeGuard(self._look, lambda uow, changes: {})

    # -- configuration

    def _rows(self, uow: UnitOfWork) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The enabled hooks with conditions, by content type; cached with the configuration."""

        def load(uow: UnitOfWork) -> dict[str, list[dict[str, Any]]]:
            hook, types = self._hook, self._types
            columns = [hook.c[name] for name in ("id", "name", NAME, *EVENTS)]
            joined = sa.select(*columns, types.c.label).join_from(hook, types, types.c.owner_id == hook.c.id)
            found: dict[str, list[dict[str, Any]]] = {}
            for row in uow.execute(joined.where(hook.c.enabled).order_by(hook.c.name)).mappings():
                if row[NAME]:
                    found.setdefault(row["label"], []).append(dict(row))
            return found

        rows: Mapping[str, Sequence[Mapping[str, Any]]] = uow.cached_config(self._rows_key, load)
        return rows

    def _hooks(self, uow: UnitOfWork, endpoint: Endpoint) -> ConditionalHooks:
        """The hooks of a content type that have conditions."""

        def load(uow: UnitOfWork) -> ConditionalHooks:
            hooks = [_hook(uow.as_system(), endpoint, row) for row in self._rows(uow).get(endpoint.label, ())]
            return ConditionalHooks(hooks, {part: _filters(endpoint, hooks, part) for part in (BEFORE, AFTER)})

        hooks: ConditionalHooks = uow.cached_config((self._rows_key, endpoint.label), load)
        return hooks

    def all_hooks(self, uow: UnitOfWork) -> Iterator[tuple[str, ConditionalHook]]:
        """The enabled hooks with conditions, each with the labels of its content types that are installed."""
        for label in self._rows(uow):
            endpoint = uow.registry.get(label)
            for hook in self._hooks(uow, endpoint).hooks if endpoint is not None else ():
                yield label, hook

    # -- states

    def _states(self, uow: UnitOfWork) -> States:
        """The flags of objects from before their first change in the present transaction; another transaction begins
        with none.
        """
        transaction = uow.session.get_transaction()
        kept = uow.guard_state.get(self._states_key)
        if kept is None or kept[0] is not transaction:
            kept = uow.guard_state[self._states_key] = (transaction, {})
        states: States = kept[1]
        return states

    def _look(self, uow: UnitOfWork, endpoint: Endpoint, keys: Sequence[Any]) -> None:
        """Keeps what objects match before their first change."""
        if endpoint.label not in self._rows(uow):
            return
        filters = self._hooks(uow, endpoint).filters[BEFORE]
        if filters.texts:
            seen = self._states(uow).setdefault(endpoint.label, {})
            seen.update(filters.states_of(uow, [key for key in keys if key not in seen]))

    # -- changes

    def judge(self, uow: UnitOfWork, changes: Sequence[Change]) -> Told:
        """The changes that hooks with conditions are told of, among those whose records are about to be written.

        Hooks that are not in the answer are told of every change that is theirs.
        """
        rows = self._rows(uow)
        told: dict[Any, set[uuid.UUID]] = {}
        grouped: dict[Endpoint, list[Change]] = {}
        for change in changes if rows else ():
            if change.endpoint.label in rows:
                grouped.setdefault(change.endpoint, []).append(change)
        for endpoint, own in grouped.items():
            self._judge(uow, endpoint, own, told)
        kept = uow.guard_state.setdefault(self._told_key, {})
        for key, records in told.items():
            kept.setdefault(key, set()).update(records)
        return told

    def _judge(
        self, uow: UnitOfWork, endpoint: Endpoint, changes: Sequence[Change], told: dict[Any, set[uuid.UUID]]
    ) -> None:
        judged, of_endpoint = self._hooks(uow, endpoint), self._states(uow).get(endpoint.label, {})
        actions = {change.action for change in changes}
        hooks = [hook for hook in judged.hooks if not hook.actions.isdisjoint(actions)]
        asked = frozenset[str]().union(*(hook.actions for hook in hooks if AFTER in hook.texts))
        there = [change.key for change in changes if change.after is not None and change.action in asked]
        after = judged.filters[AFTER].states_of(uow, there)
        problems = {}
        for hook in hooks:
            told.setdefault(hook.key, set())
        for change in changes:
            states = {BEFORE: of_endpoint.pop(change.key, {}), AFTER: after.get(change.key, {})}
            differing = JudgedChange(endpoint, change.before, change.after)
            for hook in hooks:
                if change.action not in hook.actions:
                    continue
                known = {part: states[part][text] for part, text in hook.texts.items() if text in states[part]}
                held = differing.parts(hook.condition, known).values()
                if hook.fault or (None in held and False not in held):
                    problems[hook.name] = hook.fault or NOT_SEEN
                elif all(held) and change.record is not None:
                    told[hook.key].add(change.record)
        for name, problem in problems.items():
            log.warning("the %s %s is not told of changes of %s: %s", self.kind, name, endpoint.label, problem)

    def is_told(self, uow: UnitOfWork, key: Any, record: Any) -> bool:
        """True unless the conditions of a hook left out a change that was judged."""
        told: Told = uow.guard_state.get(self._told_key, {})
        return key not in told or record in told[key]


def _hook(uow: UnitOfWork, endpoint: Endpoint, row: Mapping[str, Any]) -> ConditionalHook:
    """A stored hook with its conditions; one with a fault if the content type does not know them any more."""
    given = row[NAME]
    actions = frozenset(action for name, action in EVENTS.items() if row[name])
    try:
        condition, fault = compile_conditions(uow, endpoint, given), ""
    except Invalid as error:
        condition, fault = ChangeCondition({}, {}), error_text(error.body)
    filters = [part for part, clause in condition.states.items() if clause is not None]
    texts = {part: orjson.dumps(given[part], option=orjson.OPT_SORT_KEYS).decode() for part in filters}
    return ConditionalHook(row["id"], row["name"], actions, texts, condition, fault)


def _filters(endpoint: Endpoint, hooks: Sequence[ConditionalHook], part: str) -> StateFilters:
    found = {hook.texts[part]: hook.condition.states[part] for hook in hooks if part in hook.texts}
    return StateFilters(tuple(found), select_flags(endpoint, list(found.values())))
