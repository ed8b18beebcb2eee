"""Bodies that are forms (RFC 7578, and the older form of URLs): how files come in.

A form becomes what the same object would be as JSON, its files as :class:`Upload`; only resources with fields for files take forms.
"""

from __future__ import annotations

import email.parser
from collections.abc import Iterator
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl

import colander
from pyramid.request import Request

from netinv_core.endpoint import Endpoint
from netinv_core.errors import BadRequest, Invalid
from netinv_core.fields import NONE, errors_of
from netinv_core.http import bodies
from netinv_core.storage.files import Upload

MULTIPART, ENCODED = "multipart/form-data", "application/x-www-form-urlencoded"
MEDIA = frozenset({MULTIPART, ENCODED})
MOST_TEXT = 2**20
MOST_MEMBERS = 1000
MOST_HEADER = 4096  # of one part, in bytes: the standard library takes the square of it
Members = dict[str, list[str | Upload]]


def read(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The object that a form describes.

    :raises TooLarge: for a form that is larger than its files may be together; no more than that comes into memory
    :raises BadRequest: for one that cannot be read
    :raises Invalid: naming the members that hold a file, or JSON that is none, where it is not taken
    """
    given = request.headers["Content-Type"]
    most = len(endpoint.uploads) * endpoint.registry.settings["max_upload_size"] + MOST_TEXT
    content = bodies.content_of(request, most, "netinv.max_upload_size")
    members: Members = {}
    for name, value in _parts(content, given) if given.lower().startswith(MULTIPART) else _pairs(content):
        members.setdefault(name, []).append(value)
    return _object(endpoint, members)


def _object(endpoint: Endpoint, members: Members) -> dict[str, Any]:
    """The members as a JSON body would have them; those without a field stay, to be treated as there."""
    found: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for name, values in members.items():
        field = endpoint.writable.get(name)
        try:
            value = field.from_form(values) if field is not None else values[-1]
        except colander.Invalid as error:
            errors[name] = errors_of(error)
            continue
        if value is not NONE:
            found[name] = value
    if errors:
        raise Invalid(errors)
    return found


def _pairs(content: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(content.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_MEMBERS)
    except ValueError as error:
        raise BadRequest(f"Form parse error - {error}") from None


def _parts(content: bytes, given: str) -> Iterator[tuple[str, str | Upload]]:
    """The parts between the boundaries, by their names (RFC 2046, 5.1.1)."""
    boundary = _header("Content-Type", given).get_param("boundary")
    if not isinstance(boundary, str) or not 0 < len(boundary) <= 70 or not boundary.isascii():
        raise _broken("Invalid boundary")
    _, *parts = (b"\r\n" + content).split(b"\r\n--" + boundary.encode(), MOST_MEMBERS + 1)
    for part in parts:
        if part.startswith(b"--"):
            return
        if part is parts[-1] and len(parts) > MOST_MEMBERS:
            raise _broken("Too many parts")
        padding, opened, rest = part.partition(b"\r\n")
        head, divided, data = (b"\r\n" + rest).partition(b"\r\n\r\n")
        if padding.strip(b" \t") or not opened or not divided:
            raise _broken("A part has no header")
        yield _part(head.lstrip(), data)
    raise _broken("The end is missing")


def _part(head: bytes, data: bytes) -> tuple[str, str | Upload]:
    """A part's name, and its text or file; names are UTF-8 (RFC 7578, 5.1)."""
    if len(head) > MOST_HEADER:
        raise _broken(f"A part has a header of more than {MOST_HEADER} bytes")
    header = email.parser.HeaderParser().parsestr(head.decode("utf-8", "replace"))
    name, called = header.get_param("name", header="Content-Disposition"), header.get_filename()
    if header.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise _broken("A part has no name")
    if called is not None:
        return name, Upload(called, data)
    try:
        return name, data.decode()
    except UnicodeDecodeError:
        raise _broken("A part is not UTF-8") from None


def _header(name: str, value: str) -> Message:
    found = Message()
    found[name] = value
    return found


def _broken(reason: str) -> BadRequest:
    return BadRequest(f"Multipart form parse error - {reason}")
