"""Images stored as files: read as a URL, written as a file of a form, or as a ``data:`` URL in JSON."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import colander

from netinv_core.fields.base import NONE, Field, last_text
from netinv_core.registry_cache import cached_in_registry
from netinv_core.storage import image_headers
from netinv_core.storage.files import MAX_NAME_LENGTH, Upload, new_name

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint
    from netinv_core.registry import Registry
    from netinv_core.sql.plan import JoinedTable, Reader, ReadPlan
    from netinv_core.uow import UnitOfWork
    from netinv_core.write.draft import Draft

MEDIA = "/media/"
MAX_PIXELS = 64_000_000
NOT_A_FILE = "The submitted data was not a file. Check the encoding type on the form."
INLINE = "data:"
EMPTY = "The submitted file is empty."
NOT_AN_IMAGE = (
    "Upload a valid image. The file you uploaded was either not an image or a corrupted image. "
    "PNG, JPEG, GIF and WebP are taken."
)


@dataclasses.dataclass(eq=False, kw_only=True)
class Image(Field):
    """A column with the name of a file in ``folder``; ``size`` are the columns with width and height in pixels.

    Null deletes the file. Its URL, written as it was read, keeps it.
    """

    attribute: str
    folder: str
    registry: Registry
    size: tuple[str, str] | None = None
    kind: str = "image upload"

    def reader(self, plan: ReadPlan, place: JoinedTable) -> Reader:
        index = plan.column(place, self.attribute)
        return lambda row, page: f"{page.base}{MEDIA}{row[index]}" if row[index] else None

    def accept(self, draft: Draft, value: Any) -> None:
        if isinstance(value, str) and value.startswith(INLINE):
            value = _inline(value)
        if isinstance(value, Upload):
            info = self._check_upload(value)
            draft.values[self.attribute] = new_name(self.folder, value.name, image_headers.SUFFIXES[info.media_type])
            draft.extra[self.name] = value
            self._measure(draft, info.width, info.height)
        elif self._check_null(value):
            draft.values[self.attribute] = None
            self._measure(draft, None, None)
        elif not (
            isinstance(value, str) and draft[self.attribute] and value.endswith(f"{MEDIA}{draft[self.attribute]}")
        ):
            raise colander.Invalid(None, NOT_A_FILE)

    def _measure(self, draft: Draft, width: int | None, height: int | None) -> None:
        if self.size is not None:
            draft.values |= dict(zip(self.size, (width, height), strict=True))

    def _check_upload(self, upload: Upload) -> image_headers.ImageInfo:
        """Type and size of an uploaded image.

        :raises colander.Invalid: for a file that is too large, or no image
        """
        most = self.registry.settings["max_upload_size"]
        if not upload.content:
            raise colander.Invalid(None, EMPTY)
        if len(upload.content) > most:
            raise colander.Invalid(None, f"The file has {len(upload.content)} bytes; at most {most} are taken.")
        try:
            info = image_headers.read(upload.content)
        except ValueError:
            raise colander.Invalid(None, NOT_AN_IMAGE) from None
        if info.width * info.height > MAX_PIXELS:
            raise colander.Invalid(
                None, f"The image has {info.width} × {info.height} pixels; at most {MAX_PIXELS} in all are taken."
            )
        return info

    def store(self, uow: UnitOfWork, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if self.name in draft.extra:
                uow.files.add(draft[self.attribute], draft.extra[self.name].content)
            former = draft.before.get(self.attribute)
            if former and draft.changed(self.attribute):
                uow.files.discard(former)

    def discard(self, uow: UnitOfWork, rows: Sequence[Mapping[str, Any]]) -> None:
        for row in rows:
            if row[self.attribute]:
                uow.files.discard(row[self.attribute])

    def from_form(self, values: Sequence[Any]) -> Any:
        if isinstance(values[-1], Upload):
            return values[-1]
        text = last_text(values)
        return text or (None if self.nullable else NONE)

    def from_cell(self, text: str) -> Any:
        """Returns :data:`NONE`: tables show the URLs of images, and do not change them."""
        return NONE

    def object_data(self, value: Any) -> Any:
        return value or ""

    def options(self) -> dict[str, Any]:
        return super().options() | {"max_length": MAX_NAME_LENGTH}

    def schema(self) -> dict[str, Any]:
        return self._described({"type": "string", "format": "uri"})

    def written_schema(self) -> dict[str, Any]:
        return self.schema() | {"description": " ".join(filter(None, (self.help, self._written())))}

    def _written(self) -> str:
        accepted = "As it was read, or null for none" if self.nullable else "As it was read"
        return f"{accepted}; a file is sent in a form, or as a data URL."

    def form_schema(self) -> dict[str, Any]:
        return self._described({"type": "string", "format": "binary"})


def _inline(url: str) -> Upload:
    """Decodes the file of a ``data:`` URL (RFC 2397). Its media type is ignored.

    :raises colander.Invalid: for an invalid URL
    """
    described, divided, data = url.removeprefix(INLINE).partition(",")
    try:
        content = unquote_to_bytes(data)
        if described.endswith(";base64"):
            content = base64.b64decode(content, validate=True)
    except ValueError:
        divided = ""
    if not divided:
        raise colander.Invalid(None, NOT_A_FILE)
    return Upload("", content)


@cached_in_registry
def uploads_of(endpoint: Endpoint) -> dict[str, Image]:
    """The fields of an endpoint that take a file of a form."""
    return {name: field for name, field in endpoint.writable.items() if isinstance(field, Image)}
