"""Notations of values in filters: each filter of a resource takes those of its kind and refuses other texts."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from netinv_core.models.types import Packed, Timestamp
from netinv_testing.cases import Case, check

if TYPE_CHECKING:
    from netinv_core.read.filters import Filter

# For each kind, notations of one value, which find the same, and values that are refused.
NOTATIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "time": (
        ("2024-01-02T03:04:05Z", "2024-01-02 03:04:05", "2024-01-02T05:04:05+02:00", "2024-01-02T03:04:05.000"),
        ("20240102", "20240102T030405", "2024-W01-1", "2024-01-02x03:04", "2024-13-02T00:00", "٢٠٢٤-01-02", "now"),
    ),
    "date": (
        ("2024-01-02", " 2024-01-02 "),
        ("20240102", "2024-W01-1", "2024-02-30", "2.1.2024", "2024-01-02T00:00"),
    ),
    "number": (("7", "07"), ("seven", "1_0", "７", "0x7", "nan", "1e999", "7,0")),
    "choice": ((), ("no-such-choice",)),
    "network": (
        ("3fff:AB::/32", "3fff:00ab:0000::/32"),
        ("3fff::/129", "10.0.0.0/33", "10.0.0", "3fff:::/32", "010.0.0.0/8", "10.0.0.0/8x"),
    ),
    "host": (("3fff:AB::1", "3fff:00ab::0001"), ("3fff::g", "10.0.0", "010.0.0.1", "10.0.0.1x", "10.0.0.256")),
    "mac": (("00:50:56:ab:cd:ef", "00-50-56-AB-CD-EF", "0050.56ab.cdef", "005056ABCDEF"), ("zz", "00:50:56")),
}
NETWORKS = ("prefix", "within", "within_include", "contains", "parent_prefix")


def _kind_of(case: Case, name: str, item: Filter) -> str | None:
    """The kind of a filter's values: by its choices, its name, or the type of the column that it is called by."""
    column = case.endpoint.table.c.get(name)
    if item.choices is not None:
        return "choice"
    if name.endswith("mac_address"):
        return "mac"
    if item.kind == "number":
        return "number"
    if name in NETWORKS:
        return "network"
    if column is None or item.relation is not None:
        return None
    if isinstance(column.type, Packed):
        return "host"
    if isinstance(column.type, Timestamp):
        return "time"
    return "date" if isinstance(column.type, sa.Date) else None


def _count_found(case: Case, query: dict[str, Any]) -> Any:
    """The number of objects, or the error."""
    answer = case.api.send("GET", case.path, query={**query, "limit": 1, "brief": 1}, status=(200, 400)).json
    return answer.get("count", "refused")


@check(reads=True)
def filters_take_each_notation_and_no_other_text(case: Case) -> None:
    """Notations of one value find the same; other texts are 400 and name the parameter.

    A number may be none of a filter's choices, in each notation.
    """
    for name, item in case.endpoint.filters.items():
        kind = _kind_of(case, name, item)
        if kind is None:
            continue
        equal, refused = NOTATIONS[kind]
        for suffix in ("", *({"n", "gte"} & set(item.lookups))):
            parameter = f"{name}__{suffix}" if suffix else name
            found = {value: _count_found(case, {parameter: value}) for value in equal}
            assert len(set(found.values())) <= 1, (parameter, found)
            assert kind == "number" or "refused" not in found.values(), (parameter, found)
            for value in refused:
                answer = case.api.get(case.path, {parameter: value, "limit": 1}, status=400)
                assert list(answer) == [parameter], (parameter, value)


@check(lambda endpoint: "last_updated" in endpoint.filters, reads=True)
def the_time_of_an_object_finds_it_in_each_notation(case: Case) -> None:
    """As it is shown, with an offset, and without one (UTC)."""
    shown = case.make()
    moment = datetime.datetime.fromisoformat(shown["last_updated"])
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(hours=5, minutes=30)))
    for text in (shown["last_updated"], elsewhere.isoformat(), moment.strftime("%Y-%m-%d %H:%M:%S.%f")):
        assert _count_found(case, {"id": shown["id"], "last_updated": text}) == 1, text
        assert _count_found(case, {"id": shown["id"], "last_updated__n": text}) == 0, text
