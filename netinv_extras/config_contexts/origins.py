"""Origin of each value of a merged config context: the context that it is from, and the values that it overrides."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netinv_core.sql.plans import custom_plan
from netinv_extras.config_contexts.merge import Layer, MergedContext

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork

FIELD = "config_context"
LayerValues = Sequence[tuple[Layer, Any]]


@dataclasses.dataclass(frozen=True)
class MergedValue:
    """A value at a key path, with its layer, and the values there of earlier layers, which it overrides.

    A mapping that is merged from several layers has no entry of its own, unless it overrides something else.
    """

    path: tuple[str, ...]
    value: Any
    layer: Layer
    overridden: LayerValues


def layers_of(uow: UnitOfWork, endpoint: Endpoint, key: Any) -> list[Layer]:
    """Returns the layers of an object's config context in merge order; those of its field, which exists for
    ``endpoint``.
    """
    field = endpoint.fields[FIELD]
    assert isinstance(field, MergedContext)

    def build(plan: ReadPlan, place: JoinedTable) -> Reader:
        return field.layers_reader(plan, place)

    rows: Any = custom_plan(endpoint, ("config context layers",), build).fetch(uow, [key])
    return list(rows[0][1]) if rows else []


def merged_values(layers: Sequence[Layer]) -> list[MergedValue]:
    """Returns the values of the merge of some layers, each with its origin."""
    return list(_below((), [(layer, layer.data) for layer in layers])) if layers else []


def _below(path: tuple[str, ...], values: LayerValues) -> Iterator[MergedValue]:
    layer, last = values[-1]
    if not isinstance(last, Mapping) or not last:
        yield MergedValue(path, last, layer, values[:-1])
        return
    # Only the mappings since the last other value are merged.
    start = next((place for place in range(len(values), 0, -1) if not isinstance(values[place - 1][1], Mapping)), 0)
    if start:
        yield MergedValue(path, {}, layer, values[:start])
    merged = values[start:]
    for name in dict.fromkeys(name for _, mapping in merged for name in mapping):
        yield from _below((*path, str(name)), [(origin, item[name]) for origin, item in merged if name in item])
