"""Columns that an installation's lists have by default, in place of those that resources declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped

from netinv_core.models.base import ChangeLogged, table_of
from netinv_core.models.columns import column, json_document
from netinv_core.resource import Resource
from netinv_web.lists.columns import MAX_COLUMNS

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

LABEL = "web.listdefault"


class ListDefault(ChangeLogged):
    """A choice of columns of a model's list, for users who have not chosen their own."""

    __tablename__ = "web_list_default"

    content_type: Mapped[str] = column(length=100, unique=True, help="The model of the list, as app.model")
    columns: Mapped[Any] = json_document("Names of fields in order", default=list)


list_default_resource = Resource(
    ListDefault,
    "list-defaults",
    display="content_type",
    brief=["content_type"],
    order=["content_type"],
    natural="content_type",
    search=["content_type"],
    configuration=True,
    example={"columns": ["id"]},
)


@list_default_resource.rule
def columns_are_names(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Rejects lists that do not exist, and columns that are not a list of names."""
    for draft in drafts:
        names = draft["columns"]
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            draft.reject("columns", "Enter a list of names of fields.")
        elif len(names) > MAX_COLUMNS:
            draft.reject("columns", f"A list has at most {MAX_COLUMNS} columns.")


def default_of(uow: UnitOfWork, label: str) -> Sequence[str]:
    """The columns that the installation has set for a list; empty without."""
    stored: Mapping[str, list[str]] = uow.cached_config("web list defaults", _load)
    return stored.get(label, ())


def _load(uow: UnitOfWork) -> Mapping[str, list[str]]:
    table = table_of(ListDefault)
    rows = uow.execute(sa.select(table.c.content_type, table.c.columns))
    return {row.content_type: row.columns for row in rows}


def id_of(uow: UnitOfWork, label: str) -> Any:
    """The id of the default of a list; ``None`` without one."""
    table = table_of(ListDefault)
    return uow.execute(sa.select(table.c.id).where(table.c.content_type == label)).scalar()
