"""Image files, forms that send them, and the error messages that refuse them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

from netinv_testing import Api

NOT_A_FILE = "The submitted data was not a file. Check the encoding type on the form."
NOT_AN_IMAGE = (
    "Upload a valid image. The file you uploaded was either not an image or a corrupted image. "
    "PNG, JPEG, GIF and WebP are taken."
)
GIF = b"GIF89a\x04\0\x03\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\x04\0\x03\0\0\x02\x03\x84\x7f\x05\0;"


def png(width: int = 4, height: int = 3) -> bytes:
    """A PNG of this size, or one that says it is."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    lines = zlib.compress(b"".join(b"\0" + bytes(3 * min(width, 100)) for _ in range(min(height, 100))))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")


def kept(folder: Path) -> list[str]:
    """The names of all files that are there, unfinished ones too."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def send(api: Api, method: str, path: str, members: Any, **options: Any) -> Any:
    """The answer to a form: ``(name, text)`` or ``(name, (file name, bytes))``, in order; or a mapping of these."""
    parts = []
    for name, value in members.items() if isinstance(members, dict) else members:
        called, data = (f'; filename="{value[0]}"', value[1]) if isinstance(value, tuple) else ("", str(value).encode())
        parts.append(
            f'--limit\r\nContent-Disposition: form-data; name="{name}"{called}\r\n\r\n'.encode() + data + b"\r\n"
        )
    body = b"".join(parts) + b"--limit--\r\n"
    return api.send(method, path, body, headers={"Content-Type": "multipart/form-data; boundary=limit"}, **options)
