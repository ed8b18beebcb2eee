"""Notices: a sentence about what a form did, shown once on the next page. It travels in a signed cookie."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from pyramid.request import Request
from pyramid.response import Response

from netinv_core.records import ObjectWarning
from netinv_web.auth.sessions import forget_cookie, signed_cookie

COOKIE = "netinv_notice"
LIFETIME = 60  # seconds
MAX_TEXT = 600  # characters
MAX_WARNINGS = 3  # messages in a notice
MAX_COOKIE = 4093  # bytes; browsers drop longer ones, and WebOb refuses to set them


@dataclasses.dataclass(frozen=True)
class Notice:
    """A sentence for the user. ``undo`` is the id of the request to undo, ``link`` a path that ``link_text`` names."""

    text: str
    kind: str = "success"
    undo: str = ""
    link: str = ""
    link_text: str = ""


def _profile(request: Request) -> Any:
    return signed_cookie(request, COOKIE, "netinv notice", LIFETIME)


def add(request: Request, response: Response, notice: Notice) -> Response:
    """Adds a notice to a redirect, to be shown by the page it leads to, with the warnings of the request."""
    profile = _profile(request)
    notice = _with_warnings(notice, request.uow.warnings)
    fitting = dataclasses.replace(notice, text=notice.text[:MAX_TEXT])
    if _length(profile, fitting) > MAX_COOKIE:
        fitting = dataclasses.replace(fitting, link="", link_text="")
    while _length(profile, fitting) > MAX_COOKIE and fitting.text:  # escaped characters take up to 16 bytes
        fitting = dataclasses.replace(fitting, text=fitting.text[: len(fitting.text) * 3 // 4])
    profile.set_cookies(response, dataclasses.asdict(fitting))
    return response


def _with_warnings(notice: Notice, warnings: Sequence[ObjectWarning]) -> Notice:
    """The notice with the first :data:`MAX_WARNINGS` messages of warnings, each once."""
    if not warnings:
        return notice
    messages = list(dict.fromkeys(warning.message for warning in warnings))
    more = [f"… and {len(messages) - MAX_WARNINGS} more"] if len(messages) > MAX_WARNINGS else []
    text = " ".join([notice.text, *messages[:MAX_WARNINGS], *more])
    return dataclasses.replace(notice, text=text, kind=notice.kind if notice.kind == "danger" else "warning")


def _length(profile: Any, notice: Notice) -> int:
    return len(profile.serializer.dumps(dataclasses.asdict(notice)))


def take(request: Request) -> Notice | None:
    """The notice to show on this page, whose response removes it from the browser; ``None`` without one."""
    if COOKIE not in request.cookies:
        return None
    profile = _profile(request)
    request.add_response_callback(_remove)
    values: Any = profile.get_value()
    try:
        return Notice(**values) if isinstance(values, dict) else None
    except TypeError:
        return None


def _remove(request: Request, response: Response) -> None:
    forget_cookie(request, response, COOKIE)
