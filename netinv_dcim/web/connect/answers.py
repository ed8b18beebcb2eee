"""Answers of the pages that connect ports: the page, or the part of it that the script of lists replaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_web import static_files
from netinv_web.forms.controls import Control
from netinv_web.pages import fragment, page, query_text

INVALID = 422  # HTTP status
# Fields of cables that pages show first; those of packages and of users follow.
FIRST = ("type", "color", "length", "length_unit", "label", "status")


def in_order(names: Sequence[str]) -> list[str]:
    """The fields of cables in the order of pages."""
    return sorted(names, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def controls_in_order(controls: Sequence[Control]) -> list[Control]:
    """The controls of the fields of cables in the order of pages."""
    places = {name: place for place, name in enumerate(in_order([control.name for control in controls]))}
    return sorted(controls, key=lambda control: places[control.name])


def answer(request: Request, name: str, script: str, values: dict[str, Any], *, refused: bool) -> Response:
    """The page of the templates ``<name>.jinja2`` and ``<name>_part.jinja2``; 422 where something is ``refused``."""
    files = {"style": "cabling.css", "script": script}
    values |= {kind: static_files.path_of(request, file, "dcim") for kind, file in files.items()}
    if query_text(request, "_part") == "list":
        return fragment(request, f"netinv_dcim:web/templates/{name}_part.jinja2", values)
    return page(request, f"netinv_dcim:web/templates/{name}.jinja2", values, INVALID if refused else 200)
