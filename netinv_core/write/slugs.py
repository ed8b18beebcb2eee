"""What is made from names: slugs, and the keys by which names sort naturally."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.columns import column_info
from netinv_core.read import lookups

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

_DIGITS = re.compile(r"[0-9]+")


def natural_key(name: str | None, width: int = 8, length: int = 255) -> str:
    """A key that sorts numbers within a name by value: ``eth2`` → ``eth00000002``; at most ``length`` characters.

    A number of more than ``width`` digits gets a colon for each one beyond, which sorts after every digit.
    """

    def padded(match: re.Match[str]) -> str:
        digits = match.group().lstrip("0")
        return ":" * (len(digits) - width) + digits.zfill(width)

    return _DIGITS.sub(padded, name)[:length] if name else ""


def slugify(name: str, joint: str = "-") -> str:
    """A name as letters, digits, underscores and hyphens, lower case; ``joint`` stands for spaces and hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[-\s]+", joint, re.sub(r"[^\w\s-]", "", plain)).strip("-_")


def fill(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Gives new objects the slugs they lack, and every draft the natural keys and unique copies of its columns."""
    if not drafts:
        return
    for attribute, column in drafts[0].endpoint.table.c.items():
        what = column_info(column)
        if what.slug_of:
            _fill_slugs(uow, attribute, column, what.slug_of, what.slug_joint, drafts)
        elif what.sort_key_of:
            for draft in drafts:
                if what.sort_key_of in draft.values:
                    name = draft.values[what.sort_key_of]
                    nameless = column.nullable and name is None
                    draft.values[attribute] = None if nameless else natural_key(name, length=column.type.length or 255)
        elif what.copy_of:
            source, without = what.copy_of
            for draft in drafts:
                if source in draft.values or without in draft.values:
                    draft.values[attribute] = (draft[source] or None) if draft[without] is None else None


def _fill_slugs(uow: UnitOfWork, attribute: str, column: Any, source: str, joint: str, drafts: Sequence[Draft]) -> None:
    """Makes slugs from names, numbering those that are taken (``core``, ``core-2``)."""
    lacking = [d for d in drafts if (d.new or attribute in d.values) and not d[attribute] and isinstance(d[source], str) and attribute not in d.errors]
    if not lacking:
        return
    limit = column.type.length or 100
    bases = {id(draft): slugify(draft[source], joint)[:limit] for draft in lacking}
    dialect, taken = uow.registry.dialect, {d.values.get(attribute) for d in drafts}
    own = {draft.before.get(attribute) for draft in lacking}  # a slug that is to be made anew is free
    if column.unique:
        taken |= set(uow.execute(sa.select(column).where(column.in_(set(bases.values())))).scalars()) - own
        if clashing := {base for base in bases.values() if base in taken} | _repeated(bases.values()):
            numbered = [lookups.LOOKUPS["startswith"](dialect, column, f"{base}{joint}") for base in clashing]
            taken |= set(uow.execute(sa.select(column).where(lookups.any_of(numbered))).scalars()) - own
    for draft in lacking:
        base = slug = bases[id(draft)]
        number = 2
        while column.unique and slug in taken:
            ending = f"{joint}{number}"
            slug, number = base[: limit - len(ending)] + ending, number + 1
        taken.add(slug)
        draft.values[attribute] = slug


def _repeated(names: Any) -> set[str]:
    seen: set[str] = set()
    return {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]
