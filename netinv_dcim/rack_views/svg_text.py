"""Text in drawings: what XML can hold of it, how wide it is, how it is cut to fit, and in which colour it can be read."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOR = re.compile("[0-9a-fA-F]{6}")
# Widths of a sans-serif letter relative to the size of its font; browsers pick the font, so they are estimates, on the wide side.
_NARROW, _WIDE = set("fijlrtI .,:;'|!()[]{}/\\-`\""), set("mwMW@%&")


def legible(text: str) -> str:
    """Text with what no XML document may hold (XML 1.0, 2.2) replaced: a control character in a name must not spoil a drawing."""
    return _NOT_XML.sub("\ufffd", text)


def width_of(text: str, size: float) -> float:
    """About how wide a text is, in the unit of the font's ``size``."""
    return size * sum(map(_width, text))


def _width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.74 if letter.isupper() else 0.64


def fitted(text: str, size: float, room: float) -> str:
    """As much of a text as fits: its start and its end, which tell devices of one rack apart, around an ellipsis; blank when nothing does."""
    if width_of(text, size) <= room:
        return text
    left = room - width_of(ELLIPSIS, size)
    front = back = 0
    while front + back < len(text):
        at_front = front <= back
        left -= size * _width(text[front] if at_front else text[-back - 1])
        if left < 0:
            break
        front, back = front + at_front, back + (not at_front)
    return f"{text[:front].rstrip()}{ELLIPSIS}{text[len(text) - back :].lstrip()}" if front else ""


def luminance(color: str) -> float:
    """The relative luminance of six hexadecimal digits, 0 to 1 (WCAG 2.1)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable_on(color: str) -> str:
    """Black or white as six hexadecimal digits, whichever has the greater contrast to a colour (WCAG 2.1, 1.4.3)."""
    light = luminance(color)
    return "000000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "ffffff"


def colored(color: str, otherwise: str) -> str:
    """A colour, when it is one."""
    return color if _COLOR.fullmatch(color) else otherwise
