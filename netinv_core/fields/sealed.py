"""The field of a column whose text is kept sealed."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from netinv_core.auth import keys
from netinv_core.fields.values import Value
from netinv_core.masking import mask
from netinv_core.read.plan import Place, Plan, Reader
from netinv_core.write import schema

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.write.draft import Draft


@dataclasses.dataclass(eq=False, kw_only=True)
class Sealed(Value):
    """A text that only the service can read in the database; what was sealed under another ``netinv.secret`` is read as none."""

    registry: Registry
    confidential: bool = True

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: self._read(row[index])

    def accept(self, draft: Draft, value: Any) -> None:
        self._check_null(value)
        text, kept = schema.parse(self.node, value), draft.before.get(self.attribute, "")
        draft.values[self.attribute] = kept if kept and self._read(kept) == text else keys.seal(self._key, text)

    def flat(self, shown: Any) -> Any:
        return mask(shown)

    @property
    def _key(self) -> str:
        return str(self.registry.settings.get("secret", ""))

    def _read(self, sealed: str) -> str:
        try:
            return keys.unseal(self._key, sealed)
        except ValueError:
            return ""
