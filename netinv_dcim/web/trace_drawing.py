"""Drawing of the branches of a path as shapes from top to bottom, which a template makes SVG elements of.

A device, circuit or power panel is a box with the ends by which the path comes and goes, a cable a line in its colour.
Where the path splits, its branches follow each other, further to the right. So the drawing is as narrow as a phone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from netinv_core.labels import capitalize
from netinv_dcim.cabling.branches import Visit
from netinv_dcim.cabling.paths import End
from netinv_dcim.rack_views.svg_text import fit_text, legible, valid_color, width_of
from netinv_dcim.web.trace_names import CableName, EndName, Holder, Names

BOX_WIDTH, INDENT = 316, 26  # pixels
ROW, HEAD, NOTES = 24, 22, 16  # heights of an end in its box, of the name of the box, and of what is said of it
INNER, CABLE, STUB, GAP = 12, 46, 26, 10  # heights of the way inside a box, of a cable, of a loose end; space
STEM = 22  # from the left edge of a box to the cable that leaves it
FONT, SMALL = 13, 12
HIDDEN = "hidden"


@dataclasses.dataclass(frozen=True)
class Shape:
    """A part of a drawing: a ``box``, an end in a box (``port``), a ``branch`` (an end outside of a box), the way
    ``inner`` a box, a ``cable``, a ``stub`` with the reason why a path ends, the ``rail`` that branches leave by a
    ``tick``.

    ``text`` is its name and ``note`` what is said beside or below it; both are shortened to the width, ``title`` not.
    ``state`` is ``hidden``, ``broken`` for cables that are not connected, ``here`` for the end that was traced, or
    ``into`` for a path that ends in a network.
    """

    kind: str
    x: int
    y: int
    width: int
    height: int
    text: str = ""
    note: str = ""
    path: str = ""
    title: str = ""
    state: str = ""
    color: str = ""


@dataclasses.dataclass(frozen=True)
class TraceLine:
    """A line of the drawing in words; ``depth`` is the number of splits before it."""

    depth: int
    text: str
    path: str = ""
    note: str = ""


@dataclasses.dataclass(frozen=True)
class TraceDrawing:
    """The shapes of a drawing, the same in words, and its size in pixels."""

    width: int
    height: int
    shapes: Sequence[Shape]
    lines: Sequence[TraceLine]


def drawing_of(root: Visit, names: Names, here: End) -> TraceDrawing:
    """The drawing of the branches that begin at ``root``; ``here`` is the end that was traced."""
    builder = _DrawingBuilder(names, here)
    height = builder.group(root, 1, 1, 0)
    width = max(shape.x + shape.width for shape in builder.shapes) + 1
    return TraceDrawing(width, height + 1, builder.shapes, builder.lines)


class _DrawingBuilder:
    """Builder of the shapes and lines; its methods take the place of a part and return the height below it."""

    def __init__(self, names: Names, here: End) -> None:
        self.names, self.here = names, here
        self.shapes: list[Shape] = []
        self.lines: list[TraceLine] = []

    def group(self, visit: Visit, x: int, y: int, depth: int) -> int:
        """Draws the box of an end, and all that follows."""
        branches = [visit, *visit.hops] if visit.line is not None and visit.hops else visit.hops
        inside = [visit, *visit.hops] if len(visit.hops) == 1 and len(branches) == 1 else [visit]
        bottom = self._box(inside, x, y, depth)
        if visit.stop is not None and not visit.hops:
            return self._stub(visit, x, bottom, depth)
        if len(branches) > 1:
            return self._split(visit, branches, x, bottom, depth)
        return self._onward(inside[-1], x, bottom, depth)

    def _onward(self, visit: Visit, x: int, y: int, depth: int) -> int:
        """Draws the cable that leads on from an end and what is behind it, or why there is none."""
        if visit.line is not None and visit.beyond is not None:
            bottom = self._cable(visit, x, y, depth)
            return self.group(visit.beyond, x, bottom, depth)
        return self._stub(visit, x, y, depth) if visit.stop is not None else y

    # -- parts

    def _box(self, inside: Sequence[Visit], x: int, y: int, depth: int) -> int:
        name = self.names.ends.get(inside[0].end)
        holder = name.holder if name is not None else None
        head = self._head_height(name, holder)
        height = head + sum(ROW + INNER * bool(number) for number, _ in enumerate(inside)) + 4
        self.shapes.append(self._box_shape(name, holder, x, y, height))
        top = y + head
        for number, visit in enumerate(inside):
            if number:
                self.shapes.append(Shape("inner", x + STEM, top, 0, INNER))
                top += INNER
            self._port(visit, x, top, depth, "port", self.names.why(visit) if visit.hops else "")
            top += ROW
        return y + height

    def _head_height(self, name: EndName | None, holder: Holder | None) -> int:
        if name is None or holder is None:
            return 4
        return HEAD + (NOTES if holder.notes else 4)

    def _box_shape(self, name: EndName | None, holder: Holder | None, x: int, y: int, height: int) -> Shape:
        state = HIDDEN if name is None else ""
        if holder is None:
            return Shape("box", x, y, BOX_WIDTH, height, state=state)
        notes = " · ".join(holder.notes)
        room = BOX_WIDTH - 20
        text, note = fit_text(legible(holder.name), FONT, room), fit_text(legible(notes), SMALL, room)
        title = legible(f"{holder.name}, {notes}" if notes else holder.name)
        return Shape("box", x, y, BOX_WIDTH, height, text, note, holder.path, title)

    def _port(self, visit: Visit, x: int, y: int, depth: int, kind: str, note: str = "") -> None:
        """Draws an end; one that the user may not view without name and link."""
        name = self.names.ends.get(visit.end)
        position = f"position {visit.position}" if visit.position is not None else ""
        said = ", ".join(part for part in (position, note) if part)
        width = BOX_WIDTH - (12 if kind == "port" else 0)
        shown_note = fit_text(said, SMALL, width - 90)
        state = HIDDEN if name is None else "here" if visit.end == self.here else ""
        text, path, whole = (name.name, name.path, name.whole) if name is not None else ("hidden", "", "a hidden end")
        shown = fit_text(legible(text), FONT, width - 24 - width_of(shown_note, SMALL))
        left = x + 6 if kind == "port" else x
        self.shapes.append(Shape(kind, left, y, width, ROW - 2, shown, shown_note, path, legible(whole), state))
        self.lines.append(TraceLine(depth, legible(whole), path, said))

    def _cable(self, visit: Visit, x: int, y: int, depth: int) -> int:
        line = visit.line
        cable = self.names.cables.get(line.id) if line is not None else None
        if line is None or cable is None:
            self.shapes.append(Shape("cable", x + STEM, y, 0, CABLE, "hidden cable", state=HIDDEN))
            self.lines.append(TraceLine(depth, "A hidden cable"))
            return y + CABLE
        state = "" if line.connected else "broken"
        room = BOX_WIDTH - STEM - 20
        text, details = legible(cable.label or "Cable"), cable.details
        color = valid_color(cable.color, "")
        self.shapes.append(
            Shape(
                "cable",
                x + STEM,
                y,
                0,
                CABLE,
                fit_text(text, FONT, room),
                fit_text(details, SMALL, room),
                cable.path,
                _in_words(cable),
                state,
                color,
            )
        )
        self.lines.append(TraceLine(depth, _in_words(cable), cable.path))
        return y + CABLE

    def _stub(self, visit: Visit, x: int, y: int, depth: int) -> int:
        text = capitalize(legible(self.names.why(visit)))
        shown = fit_text(text, SMALL, BOX_WIDTH - STEM - 20)
        state = "into" if self.names.network_of(visit) else ""
        self.shapes.append(Shape("stub", x + STEM, y, 0, STUB, shown, state=state, title=text))
        self.lines.append(TraceLine(depth, text))
        return y + STUB

    def _split(self, visit: Visit, branches: Sequence[Visit], x: int, y: int, depth: int) -> int:
        """Draws the branches behind an end, each at the rail that leads down from it."""
        side, bottom, middle = x + INDENT, y, y
        place = len(self.shapes)
        for branch in branches:
            middle = bottom + GAP + ROW // 2
            self.shapes.append(Shape("tick", x + 12, middle, INDENT - 12, 0))
            self._port(branch, side, bottom + GAP, depth + 1, "branch", self.names.why(branch))
            bottom += GAP + ROW
            if branch.line is not None:
                bottom = self._onward(branch, side, bottom - 2, depth + 1)
        self.shapes.insert(place, Shape("rail", x + 12, y, 0, middle - y))
        return bottom


def _in_words(cable: CableName) -> str:
    """A cable as a line of words."""
    color = f"colour #{cable.color}" if cable.color else ""
    return legible(", ".join(part for part in (f"Cable {cable.label}".strip(), cable.details, color) if part))


def reasons_of(root: Visit, names: Names) -> list[str]:
    """Sentences that say why the path is not complete: which cable is not connected, where it ends or splits.

    Ports behind a split that have no cable are not listed.
    """
    reasons = []
    unused = {id(hop) for visit in root.all() if len(visit.hops) > 1 for hop in visit.hops if hop.line is None}
    for visit in root.all():
        where = names.of(visit.end)
        cable = names.cables.get(visit.line.id) if visit.line is not None else None
        if visit.line is not None and not visit.line.connected and cable is not None:
            name = names.of_cable(visit.line.id)
            reasons.append(f"Paths do not lead through {name} at {where}: its status is {cable.status}.")
        if len(visit.hops) > 1:
            number = len(visit.hops)
            reasons.append(f"The path splits at {where}: it may go on from each of {number} ends.")
        if visit.stop is not None and id(visit) not in unused and not names.network_of(visit):
            reasons.append(f"The path ends at {where}: {names.why(visit)}.")
    return [legible(reason) for reason in reasons]


def networks_of(root: Visit, names: Names) -> list[str]:
    """The names of the networks that the path leads into."""
    return [legible(name) for name in dict.fromkeys(names.network_of(visit) for visit in root.all()) if name]


def length_of(root: Visit, names: Names) -> str:
    """The length of all cables in metres; blank where one of them has none."""
    lengths = []
    for visit in root.all():
        if visit.line is not None:
            cable = names.cables.get(visit.line.id)
            lengths.append(cable.metres if cable is not None else None)
    known = [length for length in lengths if length is not None]
    return f"{round(sum(known), 2):g} m" if known and len(known) == len(lengths) else ""
