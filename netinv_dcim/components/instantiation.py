"""Instantiation of component templates: a new device gets a component for each template of its type.

References between components follow those between their templates: a front port of the device refers to its rear port.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.db.expressions import in_parameter
from netinv_core.errors import NON_FIELD, Invalid, error_text, named_errors
from netinv_core.labels import title_of
from netinv_core.models.base import table_of
from netinv_core.sql.plan import Row
from netinv_core.sql.union import kept_union
from netinv_core.write import save
from netinv_dcim.components.kinds import KINDS, ComponentKind, copied_fields, references_of
from netinv_dcim.devices import devices

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft


def instantiate_components(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """After new devices are saved: creates their components. Migrations and undos do not: they have the components.

    Refused components are named in errors of their device.
    """
    new = [draft for draft in drafts if draft.new]
    if not uow.creates_along or not new:
        return
    templates = template_rows(uow, {draft["device_type_id"] for draft in new})
    service = uow.as_system()
    component_ids: dict[tuple[Any, Any], uuid.UUID] = {}
    batches: list[save.PendingBatch] = []
    for kind, rows_by_type in zip(KINDS, templates, strict=True):
        if rows_by_type:
            bodies = _bodies(uow.registry, kind, rows_by_type, new, component_ids)
            if any(draft.errors for draft in new):
                return
            component = uow.registry.of_model(kind.component)
            try:
                batches.append(save.insert(service, component, list(bodies.values()), ids=list(bodies)))
            except Invalid as error:
                if not error.object_errors:  # a concurrent change
                    message = f"The {component.plural} of the device type cannot be made: {error_text(error.body)}"
                    raise Invalid.whole(message) from error
                _reject(new, component, zip(bodies.values(), error.object_errors, strict=True))
                return
    try:
        save.finish(service, batches)
    except Invalid:
        refused = [batch for batch in batches if any(draft.errors for draft in batch.drafts)]
        if not refused:
            raise
        for batch in refused:
            _reject(new, batch.endpoint, ((draft.body, draft.errors) for draft in batch.drafts))


def _reject(owners: Sequence[Draft], component: Endpoint, refused: Iterable[tuple[Any, Any]]) -> None:
    """Rejects the devices whose components, pairs of a body and errors, are refused, with the names of these."""
    entries: dict[Any, list[tuple[str, Any]]] = {}
    for body, errors in refused:
        entries.setdefault(body["device"], []).append((f"{title_of(component)} {body['name']}", errors))
    for owner in owners:
        if messages := named_errors(entries.get(owner.id, ())):
            owner.reject(NON_FIELD, *messages)


def template_rows(uow: UnitOfWork, types: Iterable[Any]) -> list[dict[Any, list[Row]]]:
    """The template rows of device types: for each kind a dictionary by type, in order; one UNION ALL statement.

    A row holds the template's id and then its values, in the order of :func:`_selects`.
    """
    templates = []
    for rows in kept_union(uow.registry, KINDS, lambda: _selects(uow.registry)).rows(uow, {"keys": list(types)}):
        rows_by_type: dict[Any, list[Row]] = {}
        for type_id, _, *row in sorted(rows, key=lambda row: (row[1], row[2])):
            rows_by_type.setdefault(type_id, []).append(row)
        templates.append(rows_by_type)
    return templates


def count_components(uow: UnitOfWork, drafts: Sequence[Draft]) -> Counter[str]:
    """The numbers of components that new devices would get, by label; one UNION ALL statement."""
    devices_by_type = Counter(draft["device_type_id"] for draft in drafts)
    del devices_by_type[None]
    created: Counter[str] = Counter()
    if devices_by_type:
        for kind, rows_by_type in zip(KINDS, template_rows(uow, devices_by_type), strict=True):
            label = uow.registry.of_model(kind.component).label
            for type_id, rows in rows_by_type.items():
                created[label] += len(rows) * devices_by_type[type_id]
    return created


def _selects(registry: Registry) -> Iterator[tuple[list[Any], Any, Any]]:
    """For each kind the columns, table and condition of its SELECT.

    The columns are the template's device type, sort key and id, then the copied fields, then the references to other
    templates.
    """
    for kind in KINDS:
        table = table_of(kind.template)
        references = [f"{name}_id" for name in references_of(registry, kind)]
        columns = ["device_type_id", "name_key", "id", *copied_fields(registry, kind), *references]
        yield [table.c[name] for name in columns], table, in_parameter(table.c.device_type_id)


def _bodies(
    registry: Registry,
    kind: ComponentKind,
    template_rows: Mapping[Any, Sequence[Row]],
    owners: Sequence[Draft],
    component_ids: dict[tuple[Any, Any], uuid.UUID],
) -> dict[uuid.UUID, dict[str, Any]]:
    """The bodies of the components of one kind of the devices ``owners``, by the ids that they get.

    ``template_rows`` holds the template rows by device type. ``component_ids`` collects the ids of all components by
    device and template. Devices with a component that cannot be made are rejected.
    """
    component = registry.of_model(kind.component)
    copied, references = copied_fields(registry, kind), references_of(registry, kind)
    bodies: dict[uuid.UUID, dict[str, Any]] = {}
    for owner in owners:
        for template, *values in template_rows.get(owner["device_type_id"], ()):
            key = component_ids[owner.id, template] = uuid.uuid4()
            copied_values = dict(zip(copied, values[: len(copied)], strict=True))
            body = bodies[key] = {**kind.fixed_values, **copied_values, "device": owner.id}
            try:
                for name, other in zip(references, values[len(copied) :], strict=True):
                    body[name] = _component_of(component_ids, owner, name, other)
            except Invalid as error:
                _reject([owner], component, [(body, error.body)])
    return bodies


def _component_of(
    component_ids: Mapping[tuple[Any, Any], uuid.UUID], owner: Draft, name: str, template: Any
) -> uuid.UUID | None:
    """The id of the device's component for a template, or ``None`` without a template.

    :raises Invalid: when the template has been moved to another device type since the reference to it was set
    """
    if template is not None and (owner.id, template) not in component_ids:
        raise Invalid.field(name, "It belongs to another device type.")
    return component_ids.get((owner.id, template))


def register() -> None:
    """Registers the functions of this module with resources of other modules. The package calls it once."""
    devices.after_save(instantiate_components, counts=count_components)
