"""Several changes of one object in one unit of work become their net effect, which may be none."""

from __future__ import annotations

import copy
import dataclasses
import types
import uuid
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from netinv_core.changelog.change_set import Change, ChangeSet
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.write import delete, save
from netinv_testing import Service

Shown = dict[str, Any]
ENDPOINT: Any = types.SimpleNamespace(label="dcim.site")
KEYS = ("a", "b", "c")
VALUES = st.integers(0, 2)


@dataclasses.dataclass
class State:
    """Objects as a transaction sees them, and the changes so far."""

    objects: dict[str, Shown]
    journal: ChangeSet


def value_of(shown: Shown | None) -> int | None:
    """The value of an object, ``None`` without one."""
    return shown["value"] if shown else None


def net_effect(before: Shown | None, after: Shown | None) -> tuple[str, int | None, int | None] | None:
    """The one change that leads from a state of an object to another; the time of the last update alone is none."""
    old, new = value_of(before), value_of(after)
    if old == new:
        return None
    return CREATE if before is None else DELETE if after is None else UPDATE, old, new


class Transaction(RuleBasedStateMachine):
    """A unit of work with savepoints, over objects some of which exist before it."""

    def __init__(self) -> None:
        super().__init__()
        self.initial: dict[str, Shown] = {"a": {"value": 0, "last_updated": 0}, "b": {"value": 1, "last_updated": 0}}
        self.states = [State(copy.deepcopy(self.initial), ChangeSet())]
        self.time = 0

    def change(self, key: str, action: str, after: Shown | None) -> None:
        """Makes a change in the innermost state."""
        state = self.states[-1]
        before = state.objects.pop(key, None)
        if after is not None:
            state.objects[key] = after
        state.journal.add(Change(ENDPOINT, key, action, before, after, {}))

    @rule(key=st.sampled_from(KEYS), value=VALUES)
    def write(self, key: str, value: int) -> None:
        """Creates an object, or gives it another value."""
        before = self.states[-1].objects.get(key)
        if before is None or before["value"] != value:
            self.time += 1
            self.change(key, UPDATE if before else CREATE, {"value": value, "last_updated": self.time})

    @rule(key=st.sampled_from(KEYS))
    def delete(self, key: str) -> None:
        """Deletes an object that exists."""
        if key in self.states[-1].objects:
            self.change(key, DELETE, None)

    @precondition(lambda self: len(self.states) < 3)
    @rule()
    def begin(self) -> None:
        """Begins to collect changes apart."""
        self.states.append(State(copy.deepcopy(self.states[-1].objects), ChangeSet()))

    @precondition(lambda self: len(self.states) > 1)
    @rule(keep=st.booleans())
    def end(self, keep: bool) -> None:
        """Keeps the changes that were collected apart, or drops them with what they did."""
        inner = self.states.pop()
        if keep:
            self.states[-1].objects = inner.objects
            self.states[-1].journal.merge(inner.journal)

    @invariant()
    def journal_holds_the_net_effect(self) -> None:
        """The outermost change set leads from the first state to the state outside of savepoints."""
        outer = self.states[0]
        found = {
            change.key: (change.action, value_of(change.before), value_of(change.after))
            for change in outer.journal._changes.values()
        }
        effects = {key: net_effect(self.initial.get(key), outer.objects.get(key)) for key in KEYS}
        assert found == {key: effect for key, effect in effects.items() if effect is not None}


TestTransaction = pytest.mark.night(Transaction.TestCase)
TestTransaction.settings = settings(max_examples=100, stateful_step_count=20)


operations = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["create", "update", "delete"]), st.sampled_from(["", "x", "y"])),
    max_size=8,
)


@settings(max_examples=15)
@given(operations)
@example([(True, "update", "x"), (True, "update", "")])
@example([(True, "delete", ""), (True, "create", "x")])
@example([(True, "delete", ""), (True, "create", "")])
@pytest.mark.night
def test_a_transaction_leaves_one_record_of_each_object_that_it_changed(
    service: Service, some: list[tuple[bool, str, str]]
) -> None:
    endpoint, name = service.registry["tenancy.tenant"], service.unique()
    old = service.api.post("/api/tenancy/tenants/", {"name": name, "slug": name})["id"]
    keys = {True: uuid.UUID(old), False: uuid.uuid4()}
    state: dict[bool, str | None] = {True: "", False: None}
    with service.unit_of_work() as uow:
        for which, action, text in some:
            key, body = keys[which], {"name": f"{name}{which}", "slug": f"{name}{which}".lower(), "description": text}
            if action == "create" and state[which] is None:
                save.create(uow, endpoint, [body], ids=[key])
            elif action == "update" and state[which] is not None:
                save.update(uow, endpoint, [{"id": str(key), "description": text}], partial=True)
            elif action == "delete" and state[which] is not None:
                delete.delete(uow, endpoint, [{"id": str(key)}])
            else:
                continue
            state[which] = None if action == "delete" else text
        request = str(uow.request_id)
    shown = service.api.get("/api/extras/object-changes/", {"request_id": request})["results"]
    actions = {change["changed_object_id"]: change["action"]["value"] for change in shown}
    assert len(actions) == len(shown)
    assert actions.get(str(keys[False])) == (None if state[False] is None else "create")
    replaced = any(which and action == "delete" for which, action, _ in some)  # by one of another name
    changed = "update" if state[True] != "" or replaced else None
    assert actions.get(old) == ("delete" if state[True] is None else changed)
