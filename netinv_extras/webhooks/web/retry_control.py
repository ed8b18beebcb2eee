"""The number of retries in the form of a webhook, each with the time within which a failed message is sent again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netinv_core.hookspecs import hookimpl
from netinv_extras.webhooks.models import MAX_RETRIES, MAX_RETRY_AFTER_SECONDS
from netinv_extras.webhooks.outbox import seconds_until
from netinv_web.forms.controls import ChoiceOffer, OfferedChoices

if TYPE_CHECKING:
    from netinv_core.uow import UnitOfWork

FIRST = "retry_after"  # the control that decides
UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
NOT_KNOWN = "Enter the seconds until the first retry to see for how long a message is sent again."


def _offer_retries(uow: UnitOfWork, values: Mapping[str, str], key: Any) -> OfferedChoices:
    """Each number of retries with its time, by the time until the first one."""
    text = values.get(FIRST, "")
    first = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_RETRY_AFTER_SECONDS)) else 0
    if not 1 <= first <= MAX_RETRY_AFTER_SECONDS:
        return OfferedChoices(None, NOT_KNOWN)
    choices, passed = [("0", "never")], 0
    for number in range(1, MAX_RETRIES + 1):
        passed += seconds_until(first, number)
        times = f"{number} times, within" if number > 1 else "once, after"
        choices.append((str(number), f"{times} {in_words(passed)}"))
    return OfferedChoices(choices)


def in_words(seconds: int) -> str:
    """A time by its two largest units: ``2 days 20 hours``."""
    words = []
    for unit, size in UNITS:
        number, seconds = divmod(seconds, size)
        if number:
            words.append(f"{number:,} {unit}{'s' if number > 1 else ''}")
        elif words:
            break
    return " ".join(words[:2])


CONTROLS = {("extras.webhook", "retries"): ChoiceOffer("Show the times", (FIRST,), _offer_retries)}


@hookimpl
def netinv_web_controls() -> Mapping[Any, Any]:
    """The number of retries of a webhook, with the times."""
    return CONTROLS
