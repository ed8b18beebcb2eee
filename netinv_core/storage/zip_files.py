"""Zip files that users send: opened and read within bounds, without trust in anything that they say of themselves."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from netinv_core.errors import TooLarge

SIGNATURE = b"PK\x03\x04"
ENTRY = b"PK\x01\x02"  # the beginning of each entry of the directory
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need any amount of memory
# Whatever the standard library raises for broken files; errors of the disk are not among them.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    RuntimeError,
    ValueError,
)


def open_zip(content: bytes, max_entries: int) -> zipfile.ZipFile:
    """The directory of a zip file.

    :raises TooLarge: for more entries, folders among them; they are counted before any is read
    :raises zipfile.BadZipFile: for another file, and for a compression that is not the usual one; broken ones lead to
        other errors of :data:`BROKEN`
    """
    if content.count(ENTRY) > max_entries:
        raise TooLarge(f"The file holds more than {max_entries:,} entries.")
    archive = zipfile.ZipFile(io.BytesIO(content))
    if any(entry.compress_type not in METHODS for entry in archive.infolist()):
        raise zipfile.BadZipFile("its compression is not the usual one (deflate)")
    return archive
