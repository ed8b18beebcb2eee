"""Control of forms, and cell of lists, for a content type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_core.labels import title_of_type
from netinv_extras.content_types import TypeLabel
from netinv_web.cells import EMPTY, CellFactory, CellReader
from netinv_web.forms.controls import Control, ControlFactory, FactoryKey, type_choices

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.fields import Field
    from netinv_core.sql.plan import ReadPlan
    from netinv_core.uow import UnitOfWork


def _type_label(uow: UnitOfWork, endpoint: Endpoint, field: Field) -> Control:
    assert isinstance(field, TypeLabel)
    return type_choices(uow.registry, field, field.labels())


CONTROLS: dict[FactoryKey, ControlFactory] = {TypeLabel: _type_label}


def _cell(plan: ReadPlan, place: Any, field: Field) -> CellReader:
    """The title of the model, in place of its label."""
    read = plan.reader_of(place, field)

    def shown(row: Any, page: Any) -> Any:
        label = read(row, page)
        return title_of_type(plan.registry, str(label)) if label else EMPTY

    return shown


CELLS: dict[type[Field], CellFactory] = {TypeLabel: _cell}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """Controls for content types."""
    return CONTROLS


@hookimpl
def netinv_web_cells() -> Mapping[Any, Any]:
    """The title of a content type."""
    return CELLS
