"""Drawings compared exactly, as text, with those that are stored: paths of cables, and faces of racks.

After a change that is meant: ``NETINV_TEST_WRITE_DRAWINGS=1 pytest tests/dcim/test_drawings_by_text.py``, then look at
the files in a browser.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pyramid.renderers import render
from pyramid.request import Request

from netinv_dcim.cabling.branches import Stop, Visit
from netinv_dcim.cabling.paths import End, PathCable
from netinv_dcim.rack_views.svg import DeviceDetails, RackFrame, Reserved, TakenUnits, UnitSize, draw
from netinv_dcim.web.trace_drawing import drawing_of, reasons_of
from netinv_dcim.web.trace_names import CableName, EndName, Holder, Names
from netinv_dcim.web.trace_pages import FILE, _style
from netinv_testing import Service

pytestmark = pytest.mark.any_database
FOLDER = Path(__file__).parent / "drawings"


def compare(name: str, drawn: str) -> None:
    """Compares a drawing with the stored one; writes it where the environment says so."""
    file = FOLDER / f"{name}.svg"
    if os.environ.get("NETINV_TEST_WRITE_DRAWINGS"):
        file.write_text(f"{drawn.strip()}\n", encoding="utf-8")
    assert drawn.strip().splitlines() == file.read_text(encoding="utf-8").strip().splitlines()


class Plan:
    """A made-up path: its visits by name, and what is said of them."""

    def __init__(self) -> None:
        self.ends: dict[End, EndName] = {}
        self.cables: dict[Any, CableName] = {}

    def visit(self, holder: str, name: str, **options: Any) -> Visit:
        """An end of a device; one that is hidden without a holder."""
        end = End("dcim.interface", UUID(int=len(self.ends) + 100 if holder else 999))
        if holder:
            device = End("dcim.device", UUID(int=sum(holder.encode())))
            held = Holder(device, holder, f"/dcim/devices/{device.id}/", ["Lisbon", "R1"])
            self.ends[end] = EndName(name, f"/dcim/interfaces/{end.id}/", held)
        return Visit(end, **options)

    def joined(self, near: Visit, far: Visit, *, connected: bool = True, **said: Any) -> Visit:
        """A cable between two visits; returns the first."""
        key = UUID(int=len(self.cables) + 1)
        near.line, near.beyond = PathCable(key, near.end, far.end, connected), far
        values = {"label": "", "status": "Connected" if connected else "Planned", **said}
        self.cables[key] = CableName(path=f"/dcim/cables/{key}/", **values)
        return near


def straight(plan: Plan) -> Visit:
    """A path through two panels, one cable of which is planned."""
    core, front = plan.visit("core01", "xe-0/0/1"), plan.visit("panel02", "F3", position=3)
    rear_there = plan.visit("panel02", "R1", hops=[plan.joined(front, core, connected=False, label="C-3")])
    rear = plan.visit("panel01", "R1", position=3)
    plan.joined(rear, rear_there, type="Singlemode Fiber", length=25, length_unit="m", color="ffeb3b")
    here = plan.visit("panel01", "F3", hops=[rear])
    return plan.joined(plan.visit("acc01", "eth1"), here, label="C-1", type="CAT6", length=2, length_unit="m")


def split(plan: Plan) -> Visit:
    """A path that splits behind a rear port: one branch goes on to a hidden end, one is loose, one is a loop."""
    first = plan.joined(plan.visit("panel01", "F1", position=1), plan.visit("", ""), color="2196f3", label="C-2")
    second = plan.visit("panel01", "F2", position=2, stop=Stop.NO_CABLE)
    third = plan.visit("panel01", "F3 with a name that is much longer than the box", position=3, stop=Stop.LOOP)
    rear = plan.visit("panel01", "R1", hops=[first, second, third])
    return plan.joined(plan.visit("acc01", "eth1"), rear, label="<C-1> & more")


@pytest.mark.parametrize("path", [straight, split])
def test_paths_are_drawn_as_before(service: Service, path: Any) -> None:
    plan = Plan()
    root = path(plan)
    names = Names(plan.ends, plan.cables)
    values = {
        "drawing": drawing_of(root, names, root.end),
        "reasons": reasons_of(root, names),
        "name": names.of(root.end),
        "origin": "http://netinv.example.com",
        "css": _style(),
    }
    request = Request.blank("/")
    request.registry = service.app.registry
    compare(f"trace-{path.__name__}", render(FILE, values, request))


@pytest.mark.parametrize("descending", [False, True], ids=["ascending", "descending"])
def test_faces_of_racks_are_drawn_as_before(descending: bool) -> None:
    switch = DeviceDetails("lis-acc01", "EX4300", "4caf50", "http://netinv.example.com/dcim/devices/1/", ["U9"])
    server = DeviceDetails("lis-srv01", "R740", "9e9e9e", "http://netinv.example.com/dcim/devices/2/", ["U1"])
    taken = [TakenUnits([9], details=switch), TakenUnits([1, 2], behind=True, details=server), TakenUnits([5, 6])]
    reserved = [Reserved([3, 4], "for <tests>", ["by ann"])]
    drawn = draw(RackFrame("R1: Front", 10, descending), UnitSize(200, 22, 30), taken, reserved, {})
    compare(f"rack-{'descending' if descending else 'ascending'}", drawn.decode())
