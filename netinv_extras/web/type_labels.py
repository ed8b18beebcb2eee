"""Control of forms for a content type."""

from __future__ import annotations

from netinv_core.types import Endpoint, Field, UnitOfWork
from netinv_extras.content_types import TypeLabel
from netinv_web.forms.controls import Control, ControlFactory, FactoryKey, type_choices


def _type_label(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, TypeLabel)
    return type_choices(uow.registry, field, field.labels())


CONTROLS: dict[FactoryKey, ControlFactory] = {TypeLabel: _type_label}
