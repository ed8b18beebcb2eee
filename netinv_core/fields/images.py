"""Pictures kept as files beside the row: read as a URL, written by sending the file in a form."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import colander

from netinv_core import pictures
from netinv_core.fields.field import NONE, Field, last_text
from netinv_core.files import LENGTH, Upload, new_name
from netinv_core.read.plan import Place, Plan, Reader

if TYPE_CHECKING:
    from netinv_core.context import Context
    from netinv_core.registry import Registry
    from netinv_core.write.draft import Draft

MEDIA = "/media/"
MOST_PIXELS = 64_000_000
NOT_A_FILE = "The submitted data was not a file. Check the encoding type on the form."
EMPTY = "The submitted file is empty."
NOT_AN_IMAGE = "Upload a valid image. The file you uploaded was either not an image or a corrupted image. PNG, JPEG, GIF and WebP are taken."


@dataclasses.dataclass(eq=False, kw_only=True)
class Image(Field):
    """A column with the name of a file in ``folder``, kept as long as the row names it.

    Null takes the file away; its URL as it was read leaves it as it is.
    """

    attribute: str
    folder: str
    registry: Registry
    kind: str = "image upload"

    def reader(self, plan: Plan, place: Place) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: f"{page.base}{MEDIA}{row[index]}" if row[index] else None

    def accept(self, draft: Draft, value: Any) -> None:
        if isinstance(value, Upload):
            suffix = pictures.SUFFIXES[self._checked(value).media_type]
            draft.values[self.attribute] = new_name(self.folder, value.name, suffix)
            draft.extra[self.name] = value
        elif self._check_null(value):
            draft.values[self.attribute] = None
        elif not (isinstance(value, str) and draft[self.attribute] and value.endswith(f"{MEDIA}{draft[self.attribute]}")):
            raise colander.Invalid(None, NOT_A_FILE)

    def _checked(self, upload: Upload) -> pictures.Picture:
        """What a file that was sent holds.

        :raises colander.Invalid: for one that is too large, or no picture
        """
        most = self.registry.settings["max_upload_size"]
        if not upload.content:
            raise colander.Invalid(None, EMPTY)
        if len(upload.content) > most:
            raise colander.Invalid(None, f"The file has {len(upload.content)} bytes; at most {most} are taken.")
        try:
            found = pictures.read(upload.content)
        except ValueError:
            raise colander.Invalid(None, NOT_AN_IMAGE) from None
        if found.width * found.height > MOST_PIXELS:
            raise colander.Invalid(None, f"The image has {found.width} × {found.height} pixels; at most {MOST_PIXELS} in all are taken.")
        return found

    def store(self, context: Context, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if self.name in draft.extra:
                context.files.add(draft[self.attribute], draft.extra[self.name].content)
            former = draft.before.get(self.attribute)
            if former and draft.changed(self.attribute):
                context.files.discard(former)

    def leave(self, context: Context, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            if row[self.attribute]:
                context.files.discard(row[self.attribute])

    def from_form(self, values: Sequence[Any]) -> Any:
        if isinstance(values[-1], Upload):
            return values[-1]
        text = last_text(values)
        return text or (None if self.nullable else NONE)

    def flat(self, shown: Any) -> Any:
        return shown or ""

    def options(self) -> dict[str, Any]:
        return super().options() | {"max_length": LENGTH}

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "string", "format": "uri"})

    def written_schema(self) -> dict[str, Any]:
        return self.schema() | {"description": " ".join(filter(None, (self.help, "As it was read, or null for none; a file is sent in a form.")))}

    def form_schema(self) -> dict[str, Any]:
        return self._described({"type": "string", "format": "binary"})
