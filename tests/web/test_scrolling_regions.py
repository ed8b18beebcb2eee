"""Regions that scroll: the keyboard reaches each (WCAG 2.1.1), also when nothing in it takes the focus."""

from __future__ import annotations

import re

from netinv_testing import Service, Unique
from netinv_web.testing import Browser
from tests.support import REPOSITORY

FOLDERS = [*REPOSITORY.glob("netinv_*"), REPOSITORY / "plugins"]
SCROLLS = re.compile(r"(?:^|[{}])\s*(\.[a-z-]+|pre) \{[^}]*overflow(?:-[xy])?: (?:auto|scroll)", re.MULTILINE)
ELEMENT = re.compile(r'<(\w+)((?:\s+[\w-]+="[^"]*")*)')


def test_every_region_of_a_template_that_scrolls_takes_the_focus() -> None:
    styles = [file.read_text() for folder in FOLDERS for file in folder.rglob("*.css") if "site" not in file.parts]
    regions = {selector for text in styles for selector in SCROLLS.findall(text)}
    regions.remove(".rail")  # the main navigation always has links
    assert regions >= {"pre", ".ports", ".table-scroll"}
    missed = []
    for file in sorted(file for folder in FOLDERS for file in folder.rglob("*.jinja2") if "build" not in file.parts):
        for element, attributes in ELEMENT.findall(file.read_text()):
            names = {element, *(f".{name}" for name in " ".join(re.findall(r'class="([^"]*)"', attributes)).split())}
            if names & regions and 'tabindex="0"' not in attributes:
                missed.append(f"{file.name}: <{element}{attributes}>")
    assert missed == []


def test_code_of_a_text_in_markdown_takes_the_focus(service: Service, browser: Browser, unique: Unique) -> None:
    text = "```\nshow version | match <pre>\n```\n\n    indented\n"
    site = service.api.post("/api/dcim/sites/", {"name": unique(), "status": "active", "comments": text})
    code = browser.get(f"/dcim/sites/{site['id']}/").html.select(".prose pre")
    assert [(block["tabindex"], block.text.strip()) for block in code] == [
        ("0", "show version | match <pre>"),
        ("0", "indented"),
    ]
