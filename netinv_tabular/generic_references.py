"""References to objects of any model by name or attributes, in place of an id: an interface by device and name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.errors import FieldErrors
from netinv_core.fields import generic_pairs
from netinv_core.write import attribute_references, reference_messages
from netinv_core.write.attribute_references import Attributes
from netinv_core.write.reference_messages import NO_SUCH, SEVERAL

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork

NO_MODEL = "There are no objects of the type {}."


def resolve(
    uow: UnitOfWork, endpoint: Endpoint, bodies: Sequence[dict[str, Any]], errors: Sequence[FieldErrors]
) -> None:
    """Replaces names or attributes of objects of any model by ids, or adds the errors of rows; one statement."""
    groups: dict[tuple[Endpoint, tuple[Any, ...]], list[tuple[int, str, Attributes]]] = {}
    for type_name, id_name in sorted(generic_pairs(endpoint)):
        for place, body in enumerate(bodies):
            value = body.get(id_name)
            if not isinstance(value, Mapping | str) or errors[place]:
                continue
            target = endpoint.registry.get(str(body.get(type_name)))
            if isinstance(value, str):
                natural = None if target is None else target.natural_attribute
                if target is None or natural is None or target.parse_key(value) is not None:
                    continue
                value = {natural: value}
            if target is None:
                errors[place][type_name] = [NO_MODEL.format(body.get(type_name))]
                continue
            try:
                attributes = attribute_references.parse(target, value)
            except ValueError as error:
                errors[place][id_name] = [str(error)]
                continue
            group = groups.setdefault((target, tuple(attributes.values)), [])
            group.append((place, id_name, attributes))
    if not groups:
        return
    searches = [(target, [attributes for *_, attributes in group]) for (target, _), group in groups.items()]
    found = attribute_references.find_together(uow, searches)
    for ((target, _), group), results in zip(groups.items(), found, strict=True):
        for (place, id_name, attributes), ids in zip(group, results, strict=True):
            if len(ids) == 1:
                bodies[place][id_name] = str(ids[0])
            else:
                template = SEVERAL if ids else NO_SUCH
                message = reference_messages.message(template, target, attributes.sent)
                errors[place][id_name] = [message.explanation]
