"""Size of an answer, counted while it is built: the settings ``max_answer_objects`` and ``max_answer_size``.

An answer may hold an object many times, so its size is no matter of what was read: a list of lists of lists is the
product of their lengths. What builds such an answer adds up the sizes of its parts, repeated ones too, before it writes
or copies them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import orjson

from netinv_core.errors import AnswerTooLarge

if TYPE_CHECKING:
    from netinv_core.registry import Registry
    from netinv_core.telemetry.log_context import LogContext

MEMBER = 6  # bytes of a member beside its name and value: quotes, colon, comma, an empty value
VALUE = 12  # bytes of a number, a date, null, on average


def check(registry: Registry, objects: int, size: int) -> None:
    """Refuses an answer with this number of objects and this number of bytes.

    :raises AnswerTooLarge: above a limit
    """
    most = registry.settings["max_answer_objects"]
    if most and objects > most:
        raise AnswerTooLarge(
            f"The answer would hold more than {most} objects, repeated ones counted each time "
            "(netinv.max_answer_objects). Ask for fewer objects or fewer levels."
        )
    most = registry.settings["max_answer_size"]
    if most and size > most:
        raise AnswerTooLarge(
            f"The answer would be larger than {most} bytes (netinv.max_answer_size). Ask for fewer objects or members."
        )


def count_inflated(context: LogContext, size: int) -> None:
    """Counts bytes that a request reads from compressed rows: a thousandth of them is stored.

    :raises AnswerTooLarge: when they are more than ``netinv.max_answer_size``
    """
    check_inflated(context, size)
    context.inflated += size


def check_inflated(context: LogContext, size: int) -> None:
    """Refuses so many bytes more from compressed rows.

    :raises AnswerTooLarge: when they are more than ``netinv.max_answer_size``
    """
    if context.inflated + size > context.most_inflated:
        raise AnswerTooLarge(
            f"The states of change records for this answer are larger than {context.most_inflated} bytes "
            "(netinv.max_answer_size). Ask for fewer changes."
        )


def sizes_of(values: Iterable[Any]) -> list[int]:
    """Returns about the number of bytes that each value takes in JSON."""
    documents: dict[int, int] = {}  # by identity: objects may share one, such as a config context
    return [len(value) if value.__class__ is str else _size(value, documents) for value in values]


def _size(value: Any, documents: dict[int, int]) -> int:
    if not isinstance(value, dict | list | tuple):
        return VALUE
    if id(value) not in documents:
        documents[id(value)] = len(orjson.dumps(value, str, orjson.OPT_NON_STR_KEYS))
    return documents[id(value)]
