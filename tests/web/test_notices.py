"""Notices after forms: they name objects, whatever these are called."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from pyramid.request import Request
from pyramid.response import Response

from netinv_testing import Service
from netinv_web import notices


@pytest.mark.parametrize("character", ["\U0001f600", "\u6771", "\u202e", '"', "x"])
@pytest.mark.parametrize("length", [50, 255, 5000])
def test_a_notice_fits_its_cookie(service: Service, character: str, length: int) -> None:
    """A long text in another script is shortened: it neither fails the answer nor is it dropped by browsers."""
    request, following = Request.blank("/"), Request.blank("/")
    request.uow = SimpleNamespace(warnings=[])
    request.registry = following.registry = service.app.registry
    sent = notices.Notice(character * length, undo="1" * 36, link="/" + "x" * 80, link_text="Open it")
    response = notices.add(request, Response(), sent)
    name, _, value = response.headers["Set-Cookie"].partition(";")[0].partition("=")
    assert len(value) <= notices.MAX_COOKIE
    following.headers["Cookie"] = f"{name}={value}"
    shown = notices.take(following)
    assert shown is not None
    assert shown.text and sent.text.startswith(shown.text)
    assert (shown.undo, shown.kind) == (sent.undo, sent.kind)
    assert length > 50 or shown == sent
