"""Headers of images: the media type, width and height of a file.

Only headers are parsed and nothing is decoded, so that a small file that claims to be a huge image costs nothing. The
file's name and the media type stated by the client are ignored.
"""

from __future__ import annotations

import dataclasses
import struct
import zlib

SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
HEADER_LENGTH = 16  # bytes that the media type is recognised by
_PNG = b"\x89PNG\r\n\x1a\n"
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD8)})
_SIZED = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_LAST = frozenset({0xD9, 0xDA})
_MAX_SEGMENTS = 1000


@dataclasses.dataclass(frozen=True)
class ImageInfo:
    """Media type of an image, and its width and height in pixels."""

    media_type: str
    width: int
    height: int


def media_type(head: bytes) -> str | None:
    """Returns the media type of a file by its first :data:`HEADER_LENGTH` bytes; ``None`` for any other file."""
    if head.startswith(_PNG):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def read(content: bytes) -> ImageInfo:
    """Parses the header of a PNG, JPEG, GIF or WebP file.

    :raises ValueError: for any other file, and for a truncated or invalid header
    """
    kind = media_type(content[:HEADER_LENGTH])
    if kind is None:
        raise ValueError("not a kind of image that is known")
    try:
        width, height = _SIZES[kind](content)
    except (struct.error, IndexError):
        raise ValueError("the header is cut off") from None
    if not width or not height:
        raise ValueError("the picture has no size")
    return ImageInfo(kind, width, height)


def _png(content: bytes) -> tuple[int, int]:
    """Size in the first chunk, IHDR (W3C PNG, 11.2.1); checks its checksum."""
    length, name, width, height = struct.unpack_from(">I4sII", content, 8)
    (checksum,) = struct.unpack_from(">I", content, 29)
    if name != b"IHDR" or length != 13 or zlib.crc32(content[12:29]) != checksum:
        raise ValueError("a PNG without a header")
    return width, height


def _gif(content: bytes) -> tuple[int, int]:
    """Size of the logical screen, which follows the signature (GIF89a, 18)."""
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _jpeg(content: bytes) -> tuple[int, int]:
    """Size in the frame header, which follows other segments (ITU-T T.81, B.1)."""
    place = 2
    for _ in range(_MAX_SEGMENTS):
        if content[place] != 0xFF:
            raise ValueError("a JPEG whose segments do not follow each other")
        while content[place] == 0xFF:
            place += 1
        marker = content[place]
        place += 1
        if marker in _SIZED:
            _, _, height, width = struct.unpack_from(">HBHH", content, place)
            return width, height
        if marker in _LAST:
            raise ValueError("a JPEG without a frame")
        if marker not in _WITHOUT_LENGTH:
            (length,) = struct.unpack_from(">H", content, place)
            if length < 2:
                raise ValueError("a JPEG with a segment shorter than its length")
            place += length
    raise ValueError("a JPEG whose frame is nowhere near its start")


def _webp(content: bytes) -> tuple[int, int]:
    """Size in the first chunk: VP8 (lossy), VP8L (lossless) or VP8X (extended); RFC 9649, 2.5 to 2.7."""
    (length,) = struct.unpack_from("<I", content, 4)
    if length + 8 > len(content):
        raise ValueError("a WebP that is cut off")
    chunk, data = content[12:16], 20
    if chunk == b"VP8 ":
        if content[data + 3 : data + 6] != b"\x9d\x01\x2a":
            raise ValueError("a WebP without a frame")
        width, height = struct.unpack_from("<HH", content, data + 6)
        return width & 0x3FFF, height & 0x3FFF
    if chunk == b"VP8L":
        mark, packed = struct.unpack_from("<BI", content, data)
        if mark != 0x2F:
            raise ValueError("a WebP without a frame")
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if chunk == b"VP8X":
        low, mixed, high = struct.unpack_from("<HHH", content, data + 4)
        return (low | (mixed & 0xFF) << 16) + 1, (mixed >> 8 | high << 8) + 1
    raise ValueError("a WebP without a frame")


_SIZES = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}
