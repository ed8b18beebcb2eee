"""Updates of rows by the service itself: without rules, with change records."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.auth.configuration_version import configuration_changed
from netinv_core.changelog import guards
from netinv_core.changelog.change_set import Change, with_masked
from netinv_core.changelog.models import UPDATE
from netinv_core.changelog.object_data import object_data
from netinv_core.errors import Invalid
from netinv_core.read import entity_tags, listing
from netinv_core.sql.plans import plan_of
from netinv_core.write import referring_rules, uniqueness
from netinv_core.write.bulk_update import bulk_update
from netinv_core.write.draft import Draft

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork


def system_update(
    uow: UnitOfWork,
    endpoint: Endpoint,
    values_by_id: Mapping[Any, Mapping[str, Any]],
    locked: Mapping[Any, Mapping[str, Any]] | None = None,
) -> list[Any]:
    """Sets columns of objects (``{id: {column: value}}``); returns the ids of the objects that changed.

    :param locked: the rows of all these objects, when the transaction has locked them already
    """
    table = endpoint.table
    if not values_by_id:
        return []
    rows = listing.lock(uow, table, values_by_id) if locked is None else locked
    changes: dict[Any, dict[str, Any]] = {}
    for key, values in values_by_id.items():
        if key in rows and (changed := {name: value for name, value in values.items() if rows[key][name] != value}):
            changes[key] = changed
    if not changes:
        return []
    _check_uniqueness(uow, endpoint, rows, changes)
    before = dict(plan_of(endpoint).fetch(uow, list(changes)))
    write_changes(uow, endpoint, rows, changes, before)
    return list(changes)


def _check_uniqueness(
    uow: UnitOfWork, endpoint: Endpoint, rows: Mapping[Any, Mapping[str, Any]], changes: Mapping[Any, dict[str, Any]]
) -> None:
    """Refuses values that another object has; one statement where a unique column changes.

    :raises Invalid: naming the objects that would change and that the user may view
    """
    drafts = [Draft(endpoint, {}, dict(rows[key])) for key in changes]
    for draft in drafts:
        draft.values = changes[draft.id]
    uniqueness.check_system_update(uow, endpoint, drafts)
    taken = [draft for draft in drafts if draft.errors]
    if not taken:
        return
    names = listing.visible_names(uow, endpoint, [draft.id for draft in taken])
    messages = [
        referring_rules.sentence(endpoint, names.get(draft.id), str(message))
        for draft in taken
        for texts in draft.errors.values()
        for message in texts
    ]
    raise Invalid.whole(*dict.fromkeys(messages))


def write_changes(
    uow: UnitOfWork,
    endpoint: Endpoint,
    rows: Mapping[Any, Mapping[str, Any]],
    changes: Mapping[Any, Mapping[str, Any]],
    before: Mapping[Any, dict[str, Any]],
    lists: Collection[str] = (),
) -> None:
    """Writes columns of locked rows, and ``last_updated``; adds the change records.

    :param before: the representations before the change, by id
    :param lists: the fields of association tables whose rows were changed already
    """
    guards.look(uow, endpoint, list(changes))
    columns = {key: dict(changed) for key, changed in changes.items()}
    if "last_updated" in endpoint.table.c:
        for key, changed in columns.items():
            changed["last_updated"] = entity_tags.later(uow.now, rows[key]["last_updated"])
    bulk_update(uow, endpoint.table, {key: changed for key, changed in columns.items() if changed})
    if endpoint.resource.configuration:
        configuration_changed(uow)
    after = _after(uow, endpoint, columns, before, lists)
    for key, changed in columns.items():
        row = {**rows[key], **changed}
        old, new = with_masked(endpoint, before[key], rows[key]), with_masked(endpoint, after[key], row)
        data = object_data(uow, endpoint, row, after[key])
        written = _draft_of(endpoint, rows[key], changed, {name: new[name] for name in lists if old[name] != new[name]})
        uow.change_set.add(Change(endpoint, key, UPDATE, old, new, data, unjudged=written))


def _draft_of(
    endpoint: Endpoint, row: Mapping[str, Any], changed: Mapping[str, Any], lists: Mapping[str, Sequence[Any]]
) -> Draft:
    """An object as written: the columns and lists that changed, for the rules that judge written objects."""
    draft = Draft(endpoint, {}, dict(row))
    draft.values.update(changed)
    for name, items in lists.items():
        draft.many[name] = [item["id"] if isinstance(item, Mapping) else item for item in items]
    return draft


def system_update_as_saved(
    uow: UnitOfWork, endpoint: Endpoint, values_by_id: Mapping[Any, Mapping[str, Any]]
) -> list[Any]:
    """As :func:`system_update`; its ``after_save`` functions follow, as after an update by a user."""
    if not values_by_id:
        return []
    rows = listing.lock(uow, endpoint.table, values_by_id)
    changed = system_update(uow, endpoint, values_by_id, rows)
    drafts = [Draft(endpoint, {}, rows[key]) for key in changed]
    for draft in drafts:
        draft.values.update(values_by_id[draft.id])
    for after_save in endpoint.resource.after_save_functions if drafts else ():
        after_save(uow, drafts)
    return changed


def _after(
    uow: UnitOfWork,
    endpoint: Endpoint,
    changes: Mapping[Any, Mapping[str, Any]],
    before: Mapping[Any, dict[str, Any]],
    lists: Collection[str],
) -> dict[Any, dict[str, Any]]:
    """Returns the new representations; only fields that depend on the changed columns and lists are read."""
    columns = {name for changed in changes.values() for name in changed}
    changed_fields = {*endpoint.fields_depending_on({*columns, *lists}), *lists}
    plan = plan_of(endpoint, without=frozenset(endpoint.fields.keys() - changed_fields))
    return {key: {**before[key], **fields} for key, fields in plan.fetch(uow, list(changes))}
