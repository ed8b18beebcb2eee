"""Proposals: the net changes of objects that a change request keeps, and what a write in it adds to them."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.auth.audit import KINDS
from netinv_core.changelog.change_set import Change, ChangeSet
from netinv_core.changelog.differences import is_own, members
from netinv_core.changelog.models import CREATE, DELETE, UPDATE
from netinv_core.changelog.packing import pack, unpack
from netinv_core.db.engine import as_stored
from netinv_core.db.expressions import in_parameter
from netinv_core.errors import Conflict, Invalid
from netinv_core.fields import Image
from netinv_core.models.columns import column_info
from netinv_core.registry_cache import cached_in_registry
from netinv_extras.change_requests import requirements, review
from netinv_extras.change_requests.models import COUNTED, LABEL, proposal_table, proposals_of

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_extras.change_requests.requirements import RulesMet

NOT_OFFERED = "{} cannot be part of a change request: they are configuration, or hold secrets or files."
UNKNOWN_OBJECT = "The change request does not change this object."
UNKNOWN_FIELD = "The change request does not change this field."
TOO_MANY = "A change request has at most {} changes of objects (netinv.max_proposed_changes)."
Identity = tuple[str, uuid.UUID]


@dataclasses.dataclass(frozen=True)
class ProposedStates:
    """The representations of an object before and after a proposed change, as JSON has them."""

    before: dict[str, Any] | None
    after: dict[str, Any] | None


class PackedStates:
    """The same, unpacked once they are asked for: reads that repeat a replay need none of them.

    :param packed: as :func:`unpack` takes it
    """

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    @functools.cached_property
    def _unpacked(self) -> ProposedStates:
        return ProposedStates(unpack(self._packed, "before"), unpack(self._packed, "after"))

    @property
    def before(self) -> dict[str, Any] | None:
        """The representation before the change; ``None`` for a new object."""
        return self._unpacked.before

    @property
    def after(self) -> dict[str, Any] | None:
        """The representation after it; ``None`` for a deleted object."""
        return self._unpacked.after


@dataclasses.dataclass(frozen=True)
class Proposal:
    """The proposed change of one object."""

    id: uuid.UUID
    endpoint: Endpoint
    key: uuid.UUID
    object_repr: str
    user_name: str
    time: datetime.datetime
    position: int
    action: str
    states: ProposedStates | PackedStates = dataclasses.field(repr=False, compare=False)
    memberships: Mapping[str, Any] | None

    @property
    def before(self) -> dict[str, Any] | None:
        """The representation of the object before the change, as JSON has it; ``None`` for a new one."""
        return self.states.before

    @property
    def after(self) -> dict[str, Any] | None:
        """The representation after it; ``None`` for a deleted object."""
        return self.states.after

    def with_states(self, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Proposal:
        """The proposal with other representations."""
        return dataclasses.replace(self, action=action_of(before, after), states=ProposedStates(before, after))

    @property
    def identity(self) -> Identity:
        """The label and the id of the object."""
        return self.endpoint.label, self.key


def action_of(before: Any, after: Any) -> str:
    """The action that leads from one state to the other."""
    if before is None:
        return CREATE
    return DELETE if after is None else UPDATE


@cached_in_registry
def is_offered(endpoint: Endpoint) -> bool:
    """True for resources whose objects change requests may change.

    Left out are configuration, which processes cache, accounts, resources whose changes are not recorded, and those
    with secrets, which change records do not keep.
    """
    resource = endpoint.resource
    if resource.configuration or not resource.recorded or endpoint.key_type is not uuid.UUID:
        return False
    if endpoint.label in KINDS or endpoint.label == LABEL or resource.of is not None:
        return False
    columns = map(column_info, endpoint.table.c)
    return not any(column.confidential or column.write_only or column.masked is not None for column in columns)


def check_offered(endpoint: Endpoint) -> None:
    """Checks that objects of a resource can be changed in a change request.

    :raises Invalid: naming the resource
    """
    if not is_offered(endpoint):
        raise Invalid.field("change_request", NOT_OFFERED.format(endpoint.plural))


def load(uow: UnitOfWork, key: uuid.UUID) -> list[Proposal]:
    """Returns the proposals of a change request in the order in which they were made, packed; one statement.

    :raises Conflict: when the package of an object is not installed
    """
    table = proposal_table
    columns = [column for column in table.c if column.name != "change_request_id"]
    rows = uow.execute(sa.select(*columns).where(proposals_of(key)).order_by(table.c.position, table.c.id)).all()
    proposals = []
    for row in rows:
        endpoint = uow.registry.get(row.object_type)
        if endpoint is None:
            raise Conflict(f"The package of {row.object_type} is not installed.")
        packed = row.states + row.object_id.bytes
        proposals.append(
            Proposal(
                row.id,
                endpoint,
                row.object_id,
                row.object_repr,
                row.user_name,
                row.time,
                row.position,
                row.action,
                PackedStates(packed),
                row.memberships,
            )
        )
    return proposals


def add(
    uow: UnitOfWork,
    row: Mapping[str, Any],
    proposals: Sequence[Proposal],
    changes: Iterable[Any],
    rules: RulesMet,
) -> None:
    """Adds the changes of a write to the proposals of a change request, given by its locked row.

    Stores which of the review rules that the objects meet concern what is proposed now.

    :raises Invalid: for a change that cannot be proposed, or too many of them
    """
    made = list(changes)
    known = {proposal.identity: proposal for proposal in proposals}
    combined = ChangeSet()
    touched: dict[Identity, Proposal | None] = {}
    for change in made:
        check_offered(change.endpoint)
        identity = change.endpoint.label, change.key
        earlier = touched[identity] = known.get(identity)
        if earlier is not None:
            combined.add(_earlier(earlier))
        combined.add(_stored_change(change))
    first = max((proposal.position for proposal in proposals), default=0) + 1
    new = [
        _combine(uow, change, touched[change.endpoint.label, change.key], first + number)
        for number, change in enumerate(combined.pending)
    ]
    _exchange(
        uow, [item.id for item in touched.values() if item is not None], [_row_of(row["id"], item) for item in new]
    )
    unchanged = [proposal for identity, proposal in known.items() if identity not in touched]
    remaining = [*unchanged, *new]
    if requirements.enabled_rules(uow):
        requirements.store(uow, row["id"], requirements.rules_met(remaining, rules))
    _count(uow, row, [proposal.action for proposal in remaining])


def replace(
    uow: UnitOfWork, row: Mapping[str, Any], proposals: Sequence[Proposal], decided: Sequence[Proposal]
) -> None:
    """Stores other states of proposals, and removes those that are not among the decided ones or whose other states
    change nothing. Approvals stay where none differs.
    """
    former = {proposal.identity: proposal for proposal in proposals}
    kept = [
        proposal
        for proposal in decided
        if proposal is former[proposal.identity] or proposal.action != UPDATE or changed_names(proposal)
    ]
    remaining = {proposal.identity for proposal in kept}
    new = [proposal for proposal in kept if proposal is not former[proposal.identity]]
    gone = [proposal.id for identity, proposal in former.items() if identity not in remaining]
    if not (gone or new):
        return
    _exchange(uow, [*gone, *(proposal.id for proposal in new)], [_row_of(row["id"], proposal) for proposal in new])
    _count(uow, row, [proposal.action for proposal in kept])


def _exchange(uow: UnitOfWork, gone: Sequence[uuid.UUID], rows: Sequence[Mapping[str, Any]]) -> None:
    """Deletes rows of proposals and inserts others; two statements."""
    if gone:
        clause = in_parameter(proposal_table.c.id)
        uow.execute(sa.delete(proposal_table).where(clause), {"keys": list(gone)})
    if rows:
        uow.execute(sa.insert(proposal_table), list(rows))


def _count(uow: UnitOfWork, row: Mapping[str, Any], actions: Collection[str]) -> None:
    """Stores the numbers of proposals of a change request, and what follows from the change of them.

    :raises Invalid: when there are too many
    """
    most = uow.registry.settings["max_proposed_changes"]
    if len(actions) > most:
        raise Invalid.field("change_request", TOO_MANY.format(most))
    counts = {name: sum(one == action for one in actions) for action, name in COUNTED.items()}
    review.store(uow, row, {**counts, **review.after_change(uow, row)})


def _earlier(proposal: Proposal) -> Change:
    before, after = proposal.before, proposal.after
    action = proposal.action
    return Change(proposal.endpoint, proposal.key, action, before, after, {}, memberships=proposal.memberships)


def _stored_change(change: Any) -> Change:
    """A change of a unit of work as change requests keep it.

    :raises Invalid: when it changes a file
    """
    before, after = as_stored(change.before), as_stored(change.after)
    for name, field in change.endpoint.writable.items():
        if isinstance(field, Image) and (after or {}).get(name) and (before or {}).get(name) != (after or {})[name]:
            raise Invalid.field(name, "A file cannot be part of a change request.")
    return Change(change.endpoint, change.key, change.action, before, after, {}, memberships=change.memberships)


def _combine(uow: UnitOfWork, change: Any, earlier: Proposal | None, position: int) -> Proposal:
    """The proposal of an object after a write, in the place of the earlier one."""
    key, place = (uuid.uuid4(), position) if earlier is None else (earlier.id, earlier.position)
    name, memberships = uow.identity.username, change.memberships
    action, states = action_of(change.before, change.after), ProposedStates(change.before, change.after)
    return Proposal(key, change.endpoint, change.key, change.name, name, uow.now, place, action, states, memberships)


def _row_of(key: uuid.UUID, proposal: Proposal) -> dict[str, Any]:
    """The row of a proposal."""
    label = proposal.endpoint.label
    states = {"before": proposal.before, "after": proposal.after, "object_data": {}}
    return {
        "id": proposal.id,
        "change_request_id": key,
        "object_type": label,
        "object_id": proposal.key,
        "object_repr": proposal.object_repr,
        "action": proposal.action,
        "user_name": proposal.user_name,
        "time": proposal.time,
        "position": proposal.position,
        "states": pack(label, proposal.key, states),
        "memberships": proposal.memberships,
    }


def changed_names(proposal: Proposal) -> list[str]:
    """The members of the representation that a proposal changes, without those that follow from others."""
    before, after = members(proposal.endpoint, proposal.before), members(proposal.endpoint, proposal.after)
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [name for name in names if is_own(proposal.endpoint, name)]
