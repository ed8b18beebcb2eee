"""Association tables, and UNIQUE constraints with their error messages."""

from __future__ import annotations

from sqlalchemy import Column as SAColumn
from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy import Table as SATable

from netinv_core.models.base import Base
from netinv_core.models.types import Chars, Key

EVERY_TYPE = "*"  # label of all content types, those of packages that are installed later included
RELATED = "netinv_related"  # in the `info` of association tables: what the target gets of the relation


def many_to_many(
    name: str,
    owner: str,
    target: str,
    *,
    related_name: str | None = None,
    count_field: str | None = None,
    single: bool = False,
) -> SATable:
    """An association table ``name`` between two tables, each given as ``"table"``; columns ``owner_id, target_id``.

    A ``target`` given as a label (``"ipam.vlan"``) belongs to a package that imports this one: as for a late
    :class:`ForeignKeyInfo`, there is no constraint in the database, and :mod:`netinv_core.write.delete` deletes the
    rows with the target.

    :param related_name: the relation that the target gets back, as of a foreign key; the field
        (:func:`netinv_core.resource.to_many`) may name another one
    :param count_field: the counter that the target gets
    :param single: an owner has one row at most, as the field :func:`netinv_core.single_references.to_one` needs it
    :raises LookupError: for a table that is not there
    """
    late = "." in target
    for table in (owner, *[target] * (not late)):
        if table not in Base.metadata.tables:
            expected = "the __tablename__ of a model that is imported, or the label of one, 'app.model'"
            raise LookupError(f"many_to_many({name!r}): there is no table {table!r}; expected {expected}")
    kinds = {t: Base.metadata.tables[t].c.id.type for t in (owner, *[target] * (not late))}
    leads = () if late else (ForeignKey(f"{target}.id", ondelete="CASCADE"),)
    return SATable(
        name,
        Base.metadata,
        SAColumn("owner_id", kinds[owner], ForeignKey(f"{owner}.id", ondelete="CASCADE"), primary_key=True),
        *(UniqueConstraint("owner_id") for _ in range(single)),
        SAColumn("target_id", kinds.get(target) or Key(), *leads, primary_key=True, index=True),
        info={RELATED: {"related_name": related_name, "count_field": count_field}},
    )


def content_type_table(name: str, owner: str) -> SATable:
    """An association table ``name`` between the table ``owner`` and content types, stored as labels (``dcim.site``)."""
    kind = Base.metadata.tables[owner].c.id.type
    return SATable(
        name,
        Base.metadata,
        SAColumn("owner_id", kind, ForeignKey(f"{owner}.id", ondelete="CASCADE"), primary_key=True),
        SAColumn("label", Chars(100), primary_key=True, index=True),
    )


def unique_set(*columns: str, message: str | None = None, when_sent: bool = False) -> UniqueConstraint:
    """UNIQUE constraint checked with the fields ("The fields a, b must make a unique set.", or ``message``).

    With ``when_sent`` it is checked only for bodies that contain all columns.
    """
    return UniqueConstraint(*columns, info={"early": True, "message": message, "when_sent": when_sent})


def unique_together(*columns: str, field: str | None = None, message: str | None = None) -> UniqueConstraint:
    """UNIQUE constraint checked after the rules ("X with this A and B already exists.", or ``message``, reported for
    ``field``).
    """
    return UniqueConstraint(*columns, info={"early": False, "field": field, "message": message})
