"""The field of a column with encrypted text, which is never shown."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import crypto
from netinv_core.fields import schema
from netinv_core.fields.values import Value
from netinv_core.masking import MASK, mask

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.write.draft import Draft

NO_SECRET = f"{MASK} stands for a value that is not shown: give the value itself, or leave this field out."


@dataclasses.dataclass(eq=False, kw_only=True)
class EncryptedText(Value):
    """A text that is encrypted in the database: read as a mask, or as a blank text if there is none.

    Writing the mask keeps the text. A text encrypted with another ``netinv.secret`` cannot be decrypted, and counts as
    changed.
    """

    registry: Registry
    confidential: bool = True

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: mask(row[index])

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        text, stored = schema.parse(self.node, value), draft.before.get(self.attribute, "")
        if text == MASK and not stored:
            raise colander.Invalid(None, NO_SECRET)
        unchanged = stored and (text == MASK or self._read(stored) == text)
        draft.values[self.attribute] = stored if unchanged else crypto.encrypt(self._key, text)

    def object_data(self, value: Any) -> Any:
        return mask(value)

    @property
    def _key(self) -> str:
        return str(self.registry.settings["secret"])

    def _read(self, sealed: str) -> str | None:
        try:
            return crypto.decrypt(self._key, sealed)
        except ValueError:
            return None
