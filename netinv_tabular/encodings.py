"""Encodings of table files: byte order marks, UTF-8, and the code pages that spreadsheets on Windows write."""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Iterable

from netinv_core.errors import BadRequest

UTF_8 = "utf-8"
CODE_PAGES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258")
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LATIN, OTHER_SCRIPTS = ("cp1252", "cp1250", "cp1257", "cp1254", "cp1258"), ("cp1251", "cp1253", "cp1255", "cp1256")
MIN_LETTERS = 3  # of a word that tells something about its script
MAX_CHAOS = 0.5  # of charset-normalizer
MAX_WORDS = 2000  # with letters beyond ASCII, by which a code page is recognised
_LATIN = re.compile(rb"[A-Za-z]")
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
ENCODINGS = (
    (UTF_8, "UTF-8"),
    ("utf-16", "UTF-16"),
    *((name, name.replace("cp", "Windows-")) for name in CODE_PAGES),
)


@dataclasses.dataclass(frozen=True)
class Decoded:
    """The text of a file, and the name of its encoding; empty for UTF-8, which needs no word."""

    text: str
    encoding: str = ""


def decode(content: bytes, stated: str = "") -> Decoded:
    """The text of a file in the encoding that is stated, or else recognised.

    :raises BadRequest: for bytes that the encoding does not have
    """
    known = dict(ENCODINGS)
    marked = next((encoding for mark, encoding in MARKS if content.startswith(mark)), "")
    encoding = stated if stated in known else marked or _recognise(content)
    if stated == UTF_8 and marked == "utf-8-sig":
        encoding = marked
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        name = known.get(encoding, "UTF-8")
        raise BadRequest(f"The file is not {name}: byte {error.start + 1} cannot be decoded.") from None
    shown = "" if encoding in (UTF_8, "utf-8-sig") else known.get(encoding, encoding)
    return Decoded(text.removeprefix("\ufeff"), shown)


def _recognise(content: bytes) -> str:
    """UTF-8, or a code page: in that of Western Europe, unless words have symbols in it or no letters of ASCII."""
    try:
        content.decode(UTF_8)
    except UnicodeDecodeError:
        pass
    else:
        return UTF_8
    if b"\0" in content:
        return UTF_8  # no code page has it in a text
    words = [word for word in _WORD.findall(content)[:MAX_WORDS] if len(word) >= MIN_LETTERS]
    foreign = [word for word in words if not _LATIN.search(word)]
    if 2 * len(foreign) > len(words):
        from charset_normalizer import from_bytes  # local import: most files are UTF-8

        best = from_bytes(b" ".join(foreign), cp_isolation=list(OTHER_SCRIPTS), threshold=MAX_CHAOS).best()
        return OTHER_SCRIPTS[0] if best is None else best.encoding
    return min(LATIN, key=lambda encoding: _symbol_count(words, encoding))


def _symbol_count(words: Iterable[bytes], encoding: str) -> int:
    """The number of characters within words that are no letters in an encoding."""
    texts = (word.decode(encoding, "replace") for word in words)
    return sum(not character.isalpha() for text in texts for character in text)
