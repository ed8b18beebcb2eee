"""Rules that say whether two ends fit each other: the one declaration for writes of cables and for pages that offer
ports.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from netinv_dcim.cabling.models import Cabled
from netinv_dcim.cabling.paths import End

if TYPE_CHECKING:
    from netinv_core.registry import Registry


class MisfitKind(enum.Enum):
    """Kinds of reasons why a cable does not fit."""

    NO_SOCKET = "no socket"  # an end takes no cable at all
    INCOMPATIBLE = "incompatible"  # cables do not connect the two models
    SAME = "same"  # both ends are one
    OBJECTION = "objection"  # one of the ends refuses the other
    CABLED = "cabled"  # an end has a cable


class Misfit(NamedTuple):
    """A reason why a cable does not fit. ``place`` is the number of the end that it is about, ``None`` for both."""

    kind: MisfitKind
    message: str
    place: int | None = None


def model_of(registry: Registry, label: str) -> type[Cabled]:
    """The model of an end."""
    model = registry[label].model
    assert issubclass(model, Cabled)
    return model


def are_compatible(registry: Registry, label: str, other: str) -> bool:
    """True when cables may connect ends of two models."""
    return model_of(registry, other).connector_kind in model_of(registry, label).compatible_with


def misfit(registry: Registry, ends: tuple[End, End], rows: Sequence[Any]) -> Misfit | None:
    """The first reason why a new cable between two ends is refused; ``None`` when it fits.

    :param rows: the rows of both ends
    """
    models = [model_of(registry, end.label) for end in ends]
    for place, (model, row) in enumerate(zip(models, rows, strict=True)):
        refusal = model.cannot_be_cabled(row)
        if refusal is not None:
            return Misfit(MisfitKind.NO_SOCKET, refusal, place)
    if not are_compatible(registry, ends[0].label, ends[1].label):
        types = " and ".join(type_title(registry, end.label) for end in ends)
        return Misfit(MisfitKind.INCOMPATIBLE, f"Incompatible termination types: {types}")
    if ends[0] == ends[1]:
        return Misfit(MisfitKind.SAME, f"Cannot connect {type_title(registry, ends[0].label)} to itself")
    objection = models[0].incompatible_with(rows[0], models[1], rows[1])
    if objection is not None:
        return Misfit(MisfitKind.OBJECTION, objection)
    for place, (end, row) in enumerate(zip(ends, rows, strict=True)):
        if row.cable_id is not None:
            message = f"{end_name(registry, end, row)} already has a cable attached (#{row.cable_id})"
            return Misfit(MisfitKind.CABLED, message, place)
    return None


def type_title(registry: Registry, label: str) -> str:
    """The content type of an end as error messages of the API show it: ``dcim | rear port``."""
    endpoint = registry[label]
    return f"{endpoint.app.name} | {endpoint.title}"


def end_name(registry: Registry, end: End, row: Any) -> str:
    """The name of an end in error messages of the API; without a name, its model and id."""
    return getattr(row, "name", None) or f"{registry[end.label].title} {end.id}"
