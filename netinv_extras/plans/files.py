"""Files with documents of plans, read by the commands: YAML or JSON, several of them as one document."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netinv_core.errors import RequestError, error_text
from netinv_tabular import yaml_documents

MAX_VALUES = 2_000_000
MEMBERS = frozenset({"owner", "match", "objects"})


@dataclasses.dataclass
class PlanDocument:
    """The body of a plan, and the file and index there of each object, by content type."""

    body: dict[str, Any]
    origins: dict[str, list[tuple[str, int]]]

    def place(self, label: str, index: str) -> str:
        """The place of an object for messages: ``sites.yaml: dcim.site[3]``."""
        origins = self.origins.get(label, [])
        if not index.isdecimal() or int(index) >= len(origins):
            return label
        file, own = origins[int(index)]
        return f"{file}: {label}[{own}]"


def read(files: Sequence[Path]) -> PlanDocument:
    """Reads files and merges their documents.

    :raises ValueError: for a file that cannot be read, or two owners
    """
    body: dict[str, Any] = {"owner": "", "match": {}, "objects": {}}
    origins: dict[str, list[tuple[str, int]]] = {}
    for file in files:
        document = _load(file)
        owner = document.get("owner") or ""
        if owner and body["owner"] not in ("", owner):
            raise ValueError(f"{file}: the owner is {owner!r}, that of another file {body['owner']!r}")
        body["owner"] = body["owner"] or owner
        body["match"] |= document.get("match") or {}
        for label, items in (document.get("objects") or {}).items():
            if not isinstance(items, list):
                raise ValueError(f"{file}: {label}: a list of objects is expected")
            body["objects"].setdefault(label, []).extend(items)
            origins.setdefault(label, []).extend((str(file), index) for index in range(len(items)))
    return PlanDocument(body, origins)


def _load(file: Path) -> dict[str, Any]:
    try:
        document = yaml_documents.load(file.read_text("utf-8"), max_values=MAX_VALUES)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{file}: {error}") from None
    except RequestError as error:
        raise ValueError(f"{file}: {error_text(error.body)}") from None
    if not isinstance(document, dict) or document.keys() - MEMBERS:
        raise ValueError(f"{file}: an object with the members owner, match and objects is expected")
    for name in ("match", "objects"):
        if not isinstance(document.get(name) or {}, dict):
            raise ValueError(f"{file}: {name}: an object with a member for each content type is expected")
    return document
