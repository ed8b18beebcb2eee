"""SVG drawing of one face of a rack: the frame with numbered units, devices and reservations.

The document contains no script and refers to no external font or image. Texts of users are written as text of elements
and attributes, never as markup.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from netinv_dcim.rack_views.svg_text import fit_text, legible, readable_on, valid_color, width_of

RAIL, CAP = 9, 7
FADED = "cfd8dc"
_STYLE = """
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
       text-anchor: middle }
a { text-decoration: none }
.number { fill: #78838a; font-variant-numeric: tabular-nums }
.metal { fill: #37434b }
.hole { fill: #1b2328 }
.free { fill: #f7f9fa; stroke: #e1e6e9 }
.free:hover { fill: #e3f2fd }
.device, .hidden, .behind { stroke: #1b2328; stroke-opacity: .4 }
a:hover .device, a:hover .behind { stroke-opacity: 1; stroke-width: 2 }
.name { font-weight: 500 }
.model { opacity: .8 }
.hidden { fill: #b8c2c8 }
.behind { fill: url(#behind) }
.behind-name { fill: #46525a; font-style: italic }
.behind-band { fill: #eef1f3; fill-opacity: .9 }
.band { fill: #10171b; fill-opacity: .66 }
.band-name { fill: #fff }
.reserved { fill: url(#reserved); stroke: #f0c36d }
.reserved-name { fill: #7a4f01 }
.reserved-edge { fill: #ffa000 }
.ground { fill: #fff }
.behind-hatch { fill: #eef1f3 }
.behind-line { fill: #cfd7db }
.reserved-hatch { fill: #fff8e6 }
.reserved-line { fill: #fbe3b4 }
@media (prefers-color-scheme: dark) {
.metal { fill: #56646d }
.ground, .free { fill: #1d242a }
.free { stroke: #323c44 }
.free:hover { fill: #24394a }
.hidden { fill: #4b565d }
.behind-hatch, .behind-band { fill: #2a3238 }
.behind-line { fill: #3b464d }
.behind-name { fill: #c3ccd2 }
.reserved-hatch { fill: #33290f }
.reserved-line { fill: #4a3a12 }
.reserved { stroke: #a17a2a }
.reserved-name { fill: #f3cd7c }
}
"""


@dataclasses.dataclass(frozen=True)
class UnitSize:
    """Size of one unit, and width of the column of unit numbers, in pixels."""

    unit_width: int
    unit_height: int
    legend_width: int

    @property
    def font(self) -> float:
        """Font size of names in pixels."""
        return max(5.0, min(16.0, self.unit_height * 0.56))

    def height_of(self, units: int) -> int:
        """Height of the drawing of a rack in pixels."""
        return units * self.unit_height + 2 * CAP


@dataclasses.dataclass(frozen=True)
class RackFrame:
    """One face of a rack of ``height`` units. Unit 1 is at the bottom, or at the top if ``descending``."""

    title: str
    height: int
    descending: bool = False

    def row(self, unit: int) -> int:
        """Returns the number of units above a unit."""
        return unit - 1 if self.descending else self.height - unit


def area(frame: RackFrame, size: UnitSize, units: Sequence[int]) -> tuple[int, int, int, int]:
    """Returns the place of units in the drawing, in pixels: left, top, right, bottom."""
    left, top = size.legend_width + RAIL, CAP + min(map(frame.row, units)) * size.unit_height
    return left, top, left + size.unit_width, top + len(units) * size.unit_height


@dataclasses.dataclass(frozen=True)
class Picture:
    """An image file: its media type and bytes."""

    media_type: str
    content: bytes


@dataclasses.dataclass(frozen=True)
class DeviceDetails:
    """Details of a device that the user may view. ``picture`` is the name of its image."""

    name: str
    model: str
    color: str
    url: str
    notes: Sequence[str] = ()
    picture: str | None = None


@dataclasses.dataclass(frozen=True)
class TakenUnits:
    """Units that a device occupies. ``behind`` is true if it is mounted on the other face of the rack.

    ``details`` is ``None`` if the user may not view the device.
    """

    units: Sequence[int]
    behind: bool = False
    details: DeviceDetails | None = None


@dataclasses.dataclass(frozen=True)
class Reserved:
    """Reserved units. ``words`` is the description, blank if the user may not view the reservation."""

    units: Sequence[int]
    words: str = ""
    notes: Sequence[str] = ()


def draw(
    frame: RackFrame,
    size: UnitSize,
    taken: Iterable[TakenUnits],
    reserved: Iterable[Reserved],
    pictures: Mapping[str, Picture],
) -> bytes:
    """Returns the drawing as an XML document. Units outside of the frame are not drawn."""
    drawing = _Drawing(frame, size)
    occupied: set[int] = set()
    for device in taken:
        units = drawing.within(device.units)
        if units:
            drawing.device(device, units, pictures)
            occupied.update(units)
    reserved_units: set[int] = set()
    for reservation in reserved:
        units = drawing.within(reservation.units)
        drawing.reservation(
            reservation,
            [unit for unit in units if unit not in occupied],
            [unit for unit in units if unit in occupied],
        )
        reserved_units.update(units)
    drawing.free(unit for unit in range(1, frame.height + 1) if unit not in occupied | reserved_units)
    return drawing.finish()


class _Drawing:
    """Builder of the document. ``layers`` are the groups of elements from back to front."""

    def __init__(self, frame: RackFrame, size: UnitSize) -> None:
        self.frame, self.size = frame, size
        self.left = size.legend_width + RAIL
        width, height = self.left + size.unit_width + RAIL, size.height_of(frame.height)
        view = f"0 0 {width} {height}"
        self.root = _element(
            "svg", xmlns="http://www.w3.org/2000/svg", version="1.1", width=width, height=height, viewBox=view
        )
        _text(self.root, "title", frame.title)
        _text(self.root, "style", _STYLE)
        self.definitions = _element("defs", self.root)
        self._patterns()
        self._metal(width, height)
        self._numbers()
        self.layers = [_element("g", self.root) for _ in range(4)]
        self.defined: set[str] = set()

    def finish(self) -> bytes:
        """Returns the document."""
        document: bytes = tostring(self.root, encoding="utf-8", xml_declaration=True)
        return document

    def within(self, units: Iterable[int]) -> list[int]:
        """Returns the units that are in the frame, in ascending order."""
        return sorted({unit for unit in units if 1 <= unit <= self.frame.height})

    def device(self, device: TakenUnits, units: Sequence[int], pictures: Mapping[str, Picture]) -> None:
        """Draws a device in the colour of its role, with a link.

        A device on the other face is hatched. A device that the user may not view has no name.
        """
        details = device.details
        lines = ["Occupied"] if details is None else [details.name, *details.notes]
        if device.behind:
            lines.append("Mounted on the other face")
        box = self._box(self.layers[2], units, lines, url=details.url if details is not None else None)
        kind = "behind" if device.behind else "device" if details is not None else "hidden"
        color = valid_color(details.color, FADED) if details is not None else FADED
        self._fill(box, units, kind, **({"fill": f"#{color}"} if kind == "device" else {}))
        if details is None:
            return
        picture = pictures.get(details.picture) if details.picture else None
        if picture is not None:
            self._picture(box, units, picture, f"picture-{details.picture}")
            self._label(box, units, details.name, "band")
        elif device.behind:
            self._label(box, units, details.name, "behind-band")
        else:
            self._name(box, units, details, readable_on(color))

    def reservation(self, reservation: Reserved, empty: Sequence[int], occupied: Sequence[int]) -> None:
        """Draws reserved units: consecutive free ones hatched together, occupied ones with a mark at the edge."""
        lines = [f"Reserved: {reservation.words}" if reservation.words else "Reserved", *reservation.notes]
        for run in runs(empty):
            box = self._box(self.layers[1], run, lines)
            self._fill(box, run, "reserved")
            if reservation.words:
                self._line(box, reservation.words, "reserved-name", self.size.font * 0.9, self._height(run) / 2)
        for run in runs(occupied):
            mark = _element(
                "rect",
                self.layers[3],
                x=self.left,
                y=self._top(run),
                width=3,
                height=self._height(run),
                **{"class": "reserved-edge"},
            )
            _text(mark, "title", "\n".join(lines))

    def free(self, units: Iterable[int]) -> None:
        """Draws units that are neither occupied nor reserved."""
        for unit in units:
            place = {
                "x": self.left + 0.5,
                "y": self._top([unit]) + 0.5,
                "width": self.size.unit_width - 1,
                "height": self.size.unit_height,
            }
            _text(_element("rect", self.layers[0], **place, **{"class": "free"}), "title", f"U{unit}: free")

    # -- parts

    def _patterns(self) -> None:
        for name in ("behind", "reserved"):
            hatch = _element(
                "pattern",
                self.definitions,
                id=name,
                width=9,
                height=9,
                patternUnits="userSpaceOnUse",
                patternTransform="rotate(45)",
            )
            _element("rect", hatch, width=9, height=9, **{"class": f"{name}-hatch"})
            _element("rect", hatch, width=3, height=9, **{"class": f"{name}-line"})
        step = self.size.unit_height
        holes = _element(
            "pattern",
            self.definitions,
            id="rail",
            width=RAIL,
            height=step,
            patternUnits="userSpaceOnUse",
            y=CAP,
            x=self.size.legend_width,
        )
        _element("rect", holes, width=RAIL, height=step, **{"class": "metal"})
        for part in (1, 3, 5):
            _element("circle", holes, cx=RAIL / 2, cy=step * part / 6, r=min(1.3, step / 14), **{"class": "hole"})

    def _metal(self, width: int, height: int) -> None:
        legend, inner = self.size.legend_width, height - 2 * CAP
        _element("rect", self.root, x=legend, width=width - legend, height=height, rx=4, **{"class": "metal"})
        ground = {"x": self.left, "y": CAP, "width": self.size.unit_width, "height": inner}
        _element("rect", self.root, **ground, **{"class": "ground"})
        _element("rect", self.root, x=legend, y=CAP, width=RAIL, height=inner, fill="url(#rail)")
        # The pattern starts at the left rail. The right rail is a translated copy, so that its holes are in place.
        _element(
            "rect",
            self.root,
            x=legend,
            y=CAP,
            width=RAIL,
            height=inner,
            fill="url(#rail)",
            transform=f"translate({RAIL + self.size.unit_width} 0)",
        )

    def _numbers(self) -> None:
        legend = self.size.legend_width
        size = min(11.0, self.size.unit_height * 0.5, (legend - 6) / max(1.2, width_of(str(self.frame.height), 1)))
        if size < 3:
            return
        numbers = _element("g", self.root, **{"class": "number", "font-size": round(size, 2)})
        for unit in range(1, self.frame.height + 1):
            middle = self._top([unit]) + self.size.unit_height / 2
            _text(numbers, "text", str(unit), x=round((legend - 2) / 2, 2), y=round(middle + size * 0.36, 2))

    def _top(self, units: Sequence[int]) -> int:
        return CAP + min(map(self.frame.row, units)) * self.size.unit_height

    def _height(self, units: Sequence[int]) -> int:
        return len(units) * self.size.unit_height

    def _box(self, layer: Element, units: Sequence[int], lines: Sequence[str], url: str | None = None) -> Element:
        """Adds the clipping area of these units, with a tooltip of ``lines`` and, for a ``url``, a link."""
        holder = _element("a", layer, href=url, target="_top") if url else _element("g", layer)
        _text(holder, "title", "\n".join(lines))
        return _element(
            "svg", holder, x=self.left, y=self._top(units), width=self.size.unit_width, height=self._height(units)
        )

    def _fill(self, box: Element, units: Sequence[int], kind: str, **look: str) -> None:
        inner = {"x": 1, "y": 0.5, "width": self.size.unit_width - 2, "height": self._height(units) - 1}
        _element("rect", box, **inner, rx=2, **{"class": kind}, **look)

    def _picture(self, box: Element, units: Sequence[int], picture: Picture, name: str) -> None:
        """Draws a picture. Each picture is defined once per height and referred to by all devices of the type."""
        inner = {"width": self.size.unit_width - 4, "height": self._height(units) - 3}
        name = f"{name}-{len(units)}"
        if name not in self.defined:
            self.defined.add(name)
            data = f"data:{picture.media_type};base64,{base64.b64encode(picture.content).decode()}"
            _element("image", self.definitions, id=name, href=data, preserveAspectRatio="xMidYMid meet", **inner)
        _element("use", box, href=f"#{name}", x=2, y=2)

    def _label(self, box: Element, units: Sequence[int], name: str, kind: str) -> None:
        """Draws a name on a band, which keeps it readable on any colour."""
        size, height = self.size.font * 0.9, self._height(units)
        text = fit_text(legible(name), size, self.size.unit_width - 20)
        if not text:
            return
        wide, high = min(width_of(text, size) + 10, self.size.unit_width - 8), size * 1.35
        middle = height / 2 if kind == "behind-band" or len(units) == 1 else height - high / 2 - 3
        place = {"x": (self.size.unit_width - wide) / 2, "y": middle - high / 2, "width": wide, "height": high}
        _element("rect", box, **{key: round(value, 2) for key, value in place.items()}, rx=3, **{"class": kind})
        self._line(box, name, "band-name" if kind == "band" else "behind-name", size, middle, margin=20)

    def _name(self, box: Element, units: Sequence[int], details: DeviceDetails, ink: str) -> None:
        size, height = self.size.font, self._height(units)
        if height < 3 * size:
            self._line(box, details.name, "name", size, height / 2, ink=ink)
            return
        self._line(box, details.name, "name", size, height / 2 - size * 0.55, ink=ink)
        self._line(box, details.model, "model", size * 0.82, height / 2 + size * 0.65, ink=ink)

    def _line(
        self,
        box: Element,
        text: str,
        kind: str,
        size: float,
        middle: float,
        *,
        ink: str | None = None,
        margin: int = 12,
    ) -> None:
        """Draws a horizontally centred line of text, vertically centred at ``middle``."""
        fits = fit_text(legible(text), size, self.size.unit_width - margin)
        look = {"class": kind, "font-size": round(size, 2)} | ({"fill": f"#{ink}"} if ink is not None else {})
        _text(box, "text", fits, x=self.size.unit_width / 2, y=round(middle + size * 0.36, 2), **look)


def runs(units: Iterable[int]) -> list[list[int]]:
    """Groups units into runs of consecutive numbers: 1, 2, 5 → [1, 2], [5]."""
    groups: list[list[int]] = []
    for unit in sorted(units):
        if groups and groups[-1][-1] == unit - 1:
            groups[-1].append(unit)
        else:
            groups.append([unit])
    return groups


def _element(name: str, parent: Element | None = None, **attributes: object) -> Element:
    texts = {key: legible(str(value)) for key, value in attributes.items()}
    return Element(name, texts) if parent is None else SubElement(parent, name, texts)


def _text(parent: Element, name: str, text: str, **attributes: object) -> Element:
    element = _element(name, parent, **attributes)
    element.text = legible(text)
    return element
