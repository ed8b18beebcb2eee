"""Rules of packages about objects of any resource, judged after the rows of a batch are written.

They see the state that the write leaves, by SQL, within its transaction; what they reject is rolled back. They judge
the objects of the request, and its consequences: the objects that the service itself writes along with it
(:mod:`netinv_core.write.system_update`), each by what the consequence changes.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.read import listing
from netinv_core.registry_cache import cached_in_registry
from netinv_core.write import referring_rules
from netinv_core.write.draft import ALL

if TYPE_CHECKING:
    from netinv_core.changelog.change_set import Change
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


@cached_in_registry
def _rules(registry: Registry) -> list[Callable[[UnitOfWork, Endpoint, Sequence[Draft]], None]]:
    return [rule for rules in registry.hooks.netinv_written_rules(registry=registry) for rule in rules]


def check(uow: UnitOfWork, endpoint: Endpoint, drafts: Sequence[Draft]) -> None:
    """Has the rules judge written objects."""
    for rule in _rules(uow.registry) if drafts else ():
        rule(uow, endpoint, drafts)


def check_followers(uow: UnitOfWork, changes: Sequence[Change], drafts: Sequence[Draft]) -> None:
    """Has the rules judge the consequences of drafts; what they reject is an error of the draft that led to it."""
    judged = _consequences(changes)
    broken = _rejected_consequences(uow, judged)
    if not broken:
        return
    causes = _causes(judged, drafts)
    keys: dict[Endpoint, list[Any]] = {}
    for draft in broken:
        keys.setdefault(draft.endpoint, []).append(draft.id)
    names = {endpoint: listing.visible_names(uow, endpoint, ids) for endpoint, ids in keys.items()}
    for draft in broken:
        on, column = referring_rules.origin([causes.get(draft.id, drafts[0])])
        field = column.removesuffix("_id")
        field = field if field in on.endpoint.writable else ALL
        for shown_at, texts in draft.errors.items():
            if on.id == draft.id:
                on.reject(shown_at, *texts)
                continue
            said = [
                referring_rules.sentence(draft.endpoint, names[draft.endpoint].get(draft.id), text) for text in texts
            ]
            on.reject(field, *(text for text in said if text not in on.errors.get(field, ())))


def check_deletion(uow: UnitOfWork, changes: Sequence[Change]) -> None:
    """Has the rules judge the consequences of a deletion.

    :raises Conflict: naming the objects that would break a rule and that the user may view, with the reasons
    """
    broken = _rejected_consequences(uow, _consequences(changes))
    if broken:
        reasons = [(draft, " ".join(text for texts in draft.errors.values() for text in texts)) for draft in broken]
        raise referring_rules.refusal(uow, [(draft.endpoint, draft.id, reason) for draft, reason in reasons])


def _consequences(changes: Iterable[Change]) -> list[Draft]:
    """The consequences among changes that are not judged yet, without columns that are again as they were."""
    found = []
    for change in changes:
        draft, change.unjudged = change.unjudged, None
        if draft is not None:
            draft.values = {name: value for name, value in draft.values.items() if value != draft.before[name]}
            found.append(draft)
    return found


def _rejected_consequences(uow: UnitOfWork, drafts: Sequence[Draft]) -> list[Draft]:
    """The consequences that rules reject. Warnings of the others name the object; those of objects that the user may
    not view are dropped.
    """
    groups: dict[Endpoint, list[Draft]] = {}
    for draft in drafts:
        groups.setdefault(draft.endpoint, []).append(draft)
    for endpoint, group in groups.items():
        with uow.collecting() as aside:
            check(uow, endpoint, group)
        if not aside.warnings:
            continue
        names = listing.visible_names(uow, endpoint, {warning.key for warning in aside.warnings})
        for warning in aside.warnings:
            if (name := names.get(warning.key)) is not None:
                message = referring_rules.sentence(endpoint, name, warning.message)
                uow.change_set.warnings.append(dataclasses.replace(warning, message=message))
    return [draft for draft in drafts if draft.errors]


def _causes(judged: Sequence[Draft], drafts: Sequence[Draft]) -> dict[Any, Draft]:
    """The draft that led to each consequence, by the id of that: the one about the same object, one that names it or
    that it names, or that of another consequence that it names. Those of which none is known are left out.
    """
    causes, keys = {draft.id: draft for draft in drafts}, {draft.id for draft in judged}
    for draft in drafts:
        causes |= dict.fromkeys(_named_ids(draft) & keys - causes.keys(), draft)
    left = [draft for draft in judged if draft.id not in causes]
    while left:
        found = {draft.id: causes[key] for draft in left for key in _named_ids(draft) if key in causes}
        causes |= found
        left = [draft for draft in left if draft.id not in causes] if found else []
    return causes


def _named_ids(draft: Draft) -> set[uuid.UUID]:
    """The ids that an object names, before and after its change."""
    values = (*draft.before.values(), *draft.values.values())
    return {value for value in values if isinstance(value, uuid.UUID)} - {draft.id}
