"""Reader of files that Django's ``dumpdata`` has written: ``[{"model": "app.model", "pk": …, "fields": {…}}, …]``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from netinv_core.importing.dump import Dump, Fields

EXPECTED = "a list of objects with model, pk and fields is expected"
SQL_BEGINNINGS = (b"--", b"SET ", b"CREATE ", b"PGDMP")


def read(path: Path) -> Dump:
    """Reads a dump from a file. Objects without ``pk`` (with natural keys) get their position as ``no. <n>``.

    :raises ValueError: when it is not a dump, or has two objects of one model and key
    """
    objects: dict[str, dict[Any, Fields]] = {}
    content = path.read_bytes()
    if content.lstrip().startswith(SQL_BEGINNINGS):
        raise ValueError(
            f"{path} is a database dump in SQL: restore it into a PostgreSQL database and give the database's URL"
        )
    try:
        items = json.loads(content)
        if not isinstance(items, list):
            raise TypeError(f"it is {type(items).__name__}")
        for position, item in enumerate(items, start=1):
            label, fields = item["model"].lower(), item["fields"]
            key = item.get("pk", f"no. {position}")
            if key in objects.setdefault(label, {}):
                raise ValueError(f"{path} has {label} {key} twice")
            objects[label][key] = dict(fields)
    except (json.JSONDecodeError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} is not a dump: {EXPECTED} ({error})") from None
    return Dump(objects)
