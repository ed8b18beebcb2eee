"""Query parameters of every list: each that the first service's OpenAPI document names, with values that fit and that
do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from compare.pair import Pair
from compare.script import Request
from compare.service import LABEL, NOWHERE

PAGING = {"limit", "offset", "format", "api_version", "depth", "brief", "include", "exclude"}


def compare(pair: Pair, wanted: Callable[[str], bool], inventory: Sequence[Request]) -> None:
    """Compares which objects each parameter finds, and the texts of its errors."""
    document = pair.first.raw("GET", "swagger.json?api_version=1.6").json()
    for path in dict.fromkeys(request.path for request in inventory if request.method == "POST"):
        model = path.replace("/", ".")
        operation = document["paths"].get(f"/{path}/", {}).get("get")
        if operation is None or not wanted(model):
            continue
        shown = pair.first.raw("GET", f"{path}?limit=3").json()["results"]
        for parameter in operation.get("parameters", []):
            name = parameter["name"]
            if parameter.get("in") == "query" and name not in PAGING:
                for value in dict.fromkeys(_values(name, parameter.get("schema", {}), shown)):
                    # The id of an object has another value on the second service.
                    labelled = pair.first.normalise(value)
                    sent = labelled if LABEL.fullmatch(labelled) and labelled != "$id" else quote(value)
                    request = Request("GET", f"{path}?brief=true&limit=0&{name}={sent}")
                    pair.compare("queries", model, name, request)


def _values(name: str, schema: dict[str, Any], shown: list[dict[str, Any]]) -> Iterator[str]:
    """A value that cannot fit, one of each object's own, and one of the kind the document says."""
    kind = schema.get("items", schema)
    yield "zz"
    if kind.get("format") == "uuid" or name.endswith(("_id", "_id__n")):
        yield NOWHERE
    elif kind.get("type") in ("integer", "number"):
        yield "1"
    elif kind.get("type") == "boolean":
        yield from ("true", "false")
    elif kind.get("format") in ("date", "date-time"):
        yield from ("2020-01-02", "2099-01-02T03:04:05Z")
    attribute = name.partition("__")[0]
    for item in shown[:1]:
        value = item.get(attribute)
        value = value.get("value") or value.get("slug") or value.get("name") if isinstance(value, dict) else value
        if (
            isinstance(value, str | int)
            and not isinstance(value, bool)
            and value != ""
            and "url" not in attribute
            and attribute != "id"
        ):
            yield str(value)
