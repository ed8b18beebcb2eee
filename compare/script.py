"""Reads the files of probes: scenarios of requests, one a line.

``## model: title`` begins a scenario; ``label = POST path {body}`` names the object that is created (or the first one
that a GET finds); ``#`` begins a comment. Bodies are YAML in flow style, ``$label`` stands for the id of an object.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "probes"
_LINE = re.compile(r"(?:(?P<label>[a-z]\w*) = )?(?P<method>[A-Z]+) (?P<path>\S+)(?: (?P<body>[\[{].*))?\Z")


@dataclasses.dataclass(frozen=True)
class Request:
    """One line of a scenario."""

    method: str
    path: str
    body: Any = None
    label: str | None = None

    def __str__(self) -> str:
        body = (
            "" if self.body is None else " " + yaml.safe_dump(self.body, default_flow_style=True, width=10**9).strip()
        )
        return f"{self.method} {self.path}{body}"


@dataclasses.dataclass
class Scenario:
    """Requests that belong together: what they create is deleted at the end."""

    model: str
    title: str
    requests: list[Request] = dataclasses.field(default_factory=list)


def scenarios(path: Path) -> list[Scenario]:
    """The scenarios of a file.

    :raises ValueError: for a line that is none of the forms
    """
    read: list[Scenario] = []
    for number, line in _joined(path.read_text()):
        if line.startswith("## "):
            model, _, title = line[3:].partition(": ")
            read.append(Scenario(model, title))
            continue
        match = _LINE.match(line)
        if match is None or not read:
            raise ValueError(f"{path.name}, line {number}: not a request: {line}")
        try:
            body = yaml.safe_load(match["body"]) if match["body"] else None
        except yaml.YAMLError as error:
            raise ValueError(f"{path.name}, line {number}: {error}") from None
        read[-1].requests.append(Request(match["method"], match["path"], body, match["label"]))
    return read


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """The lines that say something, each with its number; an indented line continues the one before."""
    current, begun = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" ") and current:
            current += " " + line.strip()
            continue
        if current:
            yield begun, current
        current, begun = ("", 0) if not line.strip() or re.match(r"#(?!#)", line) else (line.strip(), number)
    if current:
        yield begun, current
