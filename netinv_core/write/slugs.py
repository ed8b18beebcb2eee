"""Columns computed from names: slugs and natural sort keys."""

from __future__ import annotations

import collections
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from anyascii import anyascii

from netinv_core.caches import lru_cache
from netinv_core.models.columns import ColumnInfo, column_info
from netinv_core.sql import lookups
from netinv_core.write.bulk_update import bulk_update

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

_DIGITS = re.compile(r"[0-9]+")
_DIGEST_LENGTH = 12  # hexadecimal digits


def natural_key(name: str | None, width: int = 8, length: int = 255) -> str:
    """Returns a key that sorts the numbers in a name by value: ``eth2`` → ``eth00000002``.

    The key has at most ``length`` characters. A number of more than ``width`` digits gets a colon for each further
    digit, which sorts after every digit.
    """

    def padded(match: re.Match[str]) -> str:
        digits = match.group().lstrip("0")
        return ":" * (len(digits) - width) + digits.zfill(width)

    return _DIGITS.sub(padded, name)[:length] if name else ""


def slugify(name: str, joint: str = "-") -> str:
    """Converts a name to lower-case letters, digits, underscores and hyphens; ``joint`` replaces spaces and hyphens.

    Letters of other scripts are transliterated. A name without letters gets the words for its symbols, and where there
    are none, a digest of the name. Only a blank name has a blank slug.
    """
    if name.isascii():
        slug = _join_words(name, joint)
    else:
        composed = unicodedata.normalize("NFC", name)
        slug = _join_words("".join(map(_plain, composed)), joint) or _join_words(anyascii(composed), joint)
    if slug or not name.strip():
        return slug
    return f"x{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGEST_LENGTH]}"


def _plain(character: str) -> str:
    """A character without accents; a letter or number of another script in Latin letters, other symbols left out."""
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    if plain or unicodedata.category(character)[0] not in "LNM":
        return plain
    return anyascii(character)


def _join_words(text: str, joint: str) -> str:
    """ASCII text in lower case, without other characters than those of slugs."""
    kept = re.sub(r"[^\w\s-]", "", text.lower(), flags=re.ASCII)
    return re.sub(r"[-\s]+", joint, kept).strip("-_")


def fill(uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
    """Sets the slugs that new objects lack, natural sort keys (``sort_key_of``) and unique copies (``copy_of``)."""
    if not drafts:
        return
    for attribute, column, info in _computed_columns(drafts[0].endpoint.table):
        if info.slug_of:
            _fill_slugs(uow, attribute, column, info.slug_of, info.slug_joint, drafts)
        elif info.sort_key_of:
            for draft in drafts:
                if info.sort_key_of in draft.values:
                    name = draft.values[info.sort_key_of]
                    is_null = column.nullable and name is None
                    draft.values[attribute] = None if is_null else natural_key(name, length=column.type.length or 255)
        elif info.copy_of:
            source, other = info.copy_of
            for draft in drafts:
                if source in draft.values or other in draft.values:
                    draft.values[attribute] = (draft[source] or None) if draft[other] is None else None


@lru_cache("columns of tables", 2000)
def _computed_columns(table: sa.Table) -> list[tuple[str, Any, ColumnInfo]]:
    """The columns that are computed from others, with their names and options."""
    columns = [(name, column, column_info(column)) for name, column in table.c.items()]
    return [item for item in columns if item[2].slug_of or item[2].sort_key_of or item[2].copy_of]


def _needs_slug(draft: Draft, attribute: str, source: str) -> bool:
    if attribute in draft.errors or not (draft.new or attribute in draft.values):
        return False
    return not draft[attribute] and isinstance(draft[source], str)


def _fill_slugs(uow: UnitOfWork, attribute: str, column: Any, source: str, joint: str, drafts: Sequence[Draft]) -> None:
    """Computes slugs from names; slugs that are taken get a number (``core``, ``core-2``)."""
    incomplete = [draft for draft in drafts if _needs_slug(draft, attribute, source)]
    if not incomplete:
        return
    limit = column.type.length or 100
    bases = {id(draft): slugify(draft[source], joint)[:limit] for draft in incomplete}
    driver, taken = uow.registry.driver, {d.values.get(attribute) for d in drafts}
    replaced = {draft.before.get(attribute) for draft in incomplete}  # these become free
    if column.unique:
        taken |= set(uow.execute(sa.select(column).where(column.in_(set(bases.values())))).scalars()) - replaced
        if clashing := {base for base in bases.values() if base in taken} | _find_repeated(bases.values()):
            numbered = [lookups.compare("startswith", driver, column, f"{base}{joint}") for base in clashing]
            taken |= set(uow.execute(sa.select(column).where(lookups.any_of(numbered))).scalars()) - replaced
    slugs = FreeSlugs(taken, joint, limit)
    for draft in incomplete:
        base = bases[id(draft)]
        draft.values[attribute] = slugs.take(base) if column.unique else base


class FreeSlugs:
    """Slugs that are not among the ``taken`` ones. Each number of a slug is tried once, as many objects may have one
    name.
    """

    def __init__(self, taken: set[Any], joint: str, limit: int) -> None:
        self._taken, self._joint, self._limit = taken, joint, limit
        self._numbers: dict[str, int] = {}

    def take(self, base: str) -> str:
        """The slug, with a number if it is taken; it is taken from then on."""
        slug = base
        while slug in self._taken:
            number = self._numbers[base] = self._numbers.get(base, 1) + 1
            ending = f"{self._joint}{number}"
            slug = base[: self._limit - len(ending)] + ending
        self._taken.add(slug)
        return slug


def _find_repeated(names: Iterable[str]) -> set[str]:
    return {name for name, count in collections.Counter(names).items() if count > 1}


def mend(uow: UnitOfWork, endpoint: Endpoint) -> int:
    """Replaces blank slugs, which earlier releases stored, by those of the names; returns the number of rows.

    One SELECT for each column with slugs, and more statements only where one is blank. Without change records.
    """
    return sum(
        _mend_column(uow, endpoint.table, column, column_info(column).slug_of, column_info(column).slug_joint)
        for column in endpoint.table.c
        if column_info(column).slug_of
    )


def _mend_column(uow: UnitOfWork, table: Any, column: Any, source: str | None, joint: str) -> int:
    blank = uow.execute(sa.select(table.c.id, table.c[source]).where(column == "").order_by(table.c.id)).all()
    if not blank:
        return 0
    limit = column.type.length or 100
    free = FreeSlugs(set(uow.execute(sa.select(column)).scalars()), joint, limit)
    slugs = {key: {column.name: free.take(slugify(str(name or key), joint)[:limit])} for key, name in blank}
    bulk_update(uow, table, slugs)
    return len(slugs)
