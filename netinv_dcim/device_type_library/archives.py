"""Uploaded files of the device type library: single files and archives, unpacked within bounds into a folder."""

from __future__ import annotations

import dataclasses
import gzip
import io
import stat
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

from netinv_core.errors import BadRequest, RequestError, TooLarge
from netinv_core.storage import zip_files
from netinv_core.storage.files import Upload
from netinv_dcim.device_type_library import TYPES
from netinv_dcim.device_type_library.files import SUFFIXES
from netinv_dcim.device_type_library.pictures import IMAGES

MAX_FILES = 20_000
MAX_ENTRIES = 2 * MAX_FILES  # of one archive, with its folders
MAX_BYTES = 256 * 2**20  # unpacked, of all archives together
MAX_RATIO = 200  # of unpacked to packed bytes
MIN_BYTES = 2**20  # that every archive may hold, whatever the ratio
MAX_NAME = 1000
MAX_PART = 200  # bytes of the name of a file or folder; most disks take 255
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp")
ZIP, GZIP, TAR = zip_files.SIGNATURE, b"\x1f\x8b", b"ustar"
LOOSE = "files"  # the folder of files that are in none
NO_TYPE, NO_MODULES = "it is no file of a device type", "there are no module types here"
NOT_FOLLOWED, TWICE = "links and special files are left out", "another file has the same name"
BAD_NAME = f"its name is longer than {MAX_PART} bytes, or has characters that a file has not"


def is_archive(upload: Upload) -> bool:
    """True for a zip or tar file, by its content."""
    content = upload.content
    if upload.name.lower().endswith((".xlsx", ".xlsm")):
        return False
    return content.startswith((ZIP, GZIP)) or content[257:262] == TAR


@dataclasses.dataclass
class Unpacked:
    """Files in a folder, in the layout of the library; ``names`` are their names in the upload, ``skipped`` the others
    with the reasons.
    """

    folder: Path
    names: dict[str, str] = dataclasses.field(default_factory=dict)
    skipped: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    max_bytes: int | None = MAX_BYTES
    _count: int = 0
    _bytes: int = 0

    def add(self, upload: Upload) -> None:
        """Adds a file, or those in an archive.

        :raises BadRequest: for a broken archive, and one with names outside of it
        :raises TooLarge: for more or larger files than the limits allow
        """
        if not is_archive(upload):
            self._place(upload.name.replace("\\", "/").rpartition("/")[2] or "file", upload.content)
            return
        allowed = max(MIN_BYTES, MAX_RATIO * len(upload.content))
        before = self._bytes
        try:
            for name, stream in _members(upload):
                self._member(name, stream, allowed - (self._bytes - before))
                if self._bytes - before > allowed:
                    raise TooLarge(f"{upload.name} is {MAX_RATIO} times larger when it is unpacked.")
        except RequestError:
            raise
        except (tarfile.TarError, gzip.BadGzipFile, *zip_files.BROKEN) as error:
            raise BadRequest(f"{upload.name} cannot be unpacked: {error}") from None

    def _member(self, name: str, stream: IO[bytes] | None, most: int) -> None:
        """Adds a member of an archive, of which at most one byte more than ``most`` are read; without a stream it is
        none that can be read.
        """
        self._count += 1
        if self._count > MAX_FILES:
            raise TooLarge(f"The archives hold more than {MAX_FILES} files.")
        path = PurePosixPath(name.replace("\\", "/"))
        is_outside = path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name
        if is_outside or not path.parts or len(name) > MAX_NAME:
            raise BadRequest(f"The archive names a file outside of it: {name[:100]}")
        if stream is None:
            self.skipped.append((name, NOT_FOLLOWED))
        elif reason := _reason_to_skip(path):
            self.skipped.append((name, reason))
        else:
            self._place(name, stream.read(min(most, MAX_BYTES - self._bytes) + 1))

    def add_from(self, files: Mapping[str, bytes]) -> None:
        """Adds files by their names in a repository, in their order; names that no file can have are skipped."""
        for name in sorted(files):
            if ".." in PurePosixPath(name).parts or ":" in name or len(name) > MAX_NAME:
                self.skipped.append((name, BAD_NAME))
            else:
                self._place(name, files[name])

    def _place(self, name: str, content: bytes) -> None:
        self._bytes += len(content)
        if self.max_bytes is not None and self._bytes > self.max_bytes:
            raise TooLarge(f"The files are larger than {self.max_bytes >> 20} MiB together.")
        path = PurePosixPath(name.replace("\\", "/"))
        if reason := _reason_to_skip(path):
            self.skipped.append((name, reason))
            return
        place = _place_of(path)
        target = self.folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            self.skipped.append((name, TWICE))
            return
        target.write_bytes(content)
        self.names[str(place)] = name


def _reason_to_skip(path: PurePosixPath) -> str:
    if "module-types" in path.parts:
        return NO_MODULES
    if any(len(part.encode()) > MAX_PART or not part.isprintable() for part in path.parts):
        return BAD_NAME
    suffix = path.suffix.lower()
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    return NO_TYPE if is_hidden or suffix not in (*SUFFIXES, *PICTURES) else ""


def _place_of(path: PurePosixPath) -> PurePosixPath:
    """The place of a file in the layout of the library: by the folder of its manufacturer."""
    kind = TYPES if path.suffix.lower() in SUFFIXES else IMAGES
    folder = path.parts[-2] if len(path.parts) > 1 else LOOSE
    return PurePosixPath(kind) / (LOOSE if folder in (TYPES, IMAGES) else folder) / path.name


def _members(upload: Upload) -> Iterator[tuple[str, IO[bytes] | None]]:
    """The files of an archive by name, with ``None`` for links and special files."""
    stream = io.BytesIO(upload.content)
    if upload.content.startswith(ZIP):
        with zip_files.open_zip(upload.content, MAX_ENTRIES) as packed:
            for info in packed.infolist():
                kind = stat.S_IFMT(info.external_attr >> 16)
                if info.is_dir():
                    continue
                if kind not in (0, stat.S_IFREG):
                    yield _printable_name(info.filename), None
                    continue
                with packed.open(info) as member:
                    yield _printable_name(info.filename), member
        return
    with tempfile.TemporaryFile() as unpacked:
        _inflate(upload, stream, unpacked)
        with tarfile.open(fileobj=unpacked, mode="r:") as archive:
            for count, entry in enumerate(archive):
                if count >= MAX_ENTRIES:
                    raise TooLarge(f"{upload.name} holds more than {MAX_ENTRIES:,} entries.")
                if not entry.isdir():
                    yield _printable_name(entry.name), archive.extractfile(entry) if entry.isreg() else None


def _printable_name(name: str) -> str:
    """The name of a member; what is not UTF-8 in it is replaced."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _inflate(upload: Upload, packed: IO[bytes], target: IO[bytes]) -> None:
    """Writes the tar file of an upload, within the limits.

    :raises TooLarge: for one that is larger
    """
    source = gzip.GzipFile(fileobj=packed) if upload.content.startswith(GZIP) else packed
    allowed = min(MAX_BYTES, max(MIN_BYTES, MAX_RATIO * len(upload.content)))
    size = 0
    while block := source.read(2**20):
        size += len(block)
        if size > allowed:
            raise TooLarge(f"{upload.name} is larger than {allowed} bytes when it is unpacked.")
        target.write(block)
    target.seek(0)


def unpack(uploads: Sequence[Upload], folder: Path) -> Unpacked:
    """Writes uploaded files into a folder; see :meth:`Unpacked.add`."""
    unpacked = Unpacked(folder)
    for upload in uploads:
        unpacked.add(upload)
    return unpacked
