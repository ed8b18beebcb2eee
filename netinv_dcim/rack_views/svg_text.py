"""Text in drawings: replacement of characters that XML forbids, estimated widths, shortening, and contrast."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_COLOR = re.compile("[0-9a-fA-F]{6}")
# Letters by width relative to the font size. The browser chooses the sans-serif font, so widths are high estimates.
_NARROW, _WIDE = set("fijlrtI .,:;'|!()[]{}/\\-`\""), set("mwMW@%&")


def legible(text: str) -> str:
    """Replaces characters that XML forbids (XML 1.0, 2.2), such as control characters, by U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)


def width_of(text: str, size: float) -> float:
    """Returns the estimated width of a text, in the unit of the font ``size``."""
    return size * sum(map(_width, text))


def _width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if letter in _NARROW:
        return 0.38
    if letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.74 if letter.isupper() else 0.64


def fit_text(text: str, size: float, room: float) -> str:
    """Shortens a text to a width: an ellipsis replaces its middle. Returns a blank text if nothing fits.

    Both ends are kept because names of devices in one rack differ at either of them.
    """
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
    """Returns the relative luminance, 0 to 1, of a colour of six hexadecimal digits (WCAG 2.1)."""
    parts = [int(color[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def readable_on(color: str) -> str:
    """Returns black or white, whichever has the greater contrast to a colour (WCAG 2.1, 1.4.3).

    Colours are six hexadecimal digits.
    """
    light = luminance(color)
    return "000000" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "ffffff"


def valid_color(color: str, otherwise: str) -> str:
    """Returns ``color`` if it has six hexadecimal digits, else ``otherwise``."""
    return color if _COLOR.fullmatch(color) else otherwise
