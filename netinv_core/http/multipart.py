"""Parsing of forms (RFC 7578, and ``application/x-www-form-urlencoded``), by which files are uploaded.

A form is converted to the object that a JSON body would have, with files as :class:`Upload`. Only resources with fields
for files accept forms.
"""

from __future__ import annotations

import email.parser
from collections.abc import Iterator
from email.message import Message
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import colander
from pyramid.request import Request

from netinv_core.errors import BadRequest, Invalid
from netinv_core.fields import NONE, errors_of
from netinv_core.fields.images import uploads_of
from netinv_core.http import bodies
from netinv_core.storage.files import Upload

if TYPE_CHECKING:
    from netinv_core.endpoint import Endpoint

MULTIPART, ENCODED = "multipart/form-data", "application/x-www-form-urlencoded"
MEDIA = frozenset({MULTIPART, ENCODED})
MAX_TEXT_SIZE = 2**20  # bytes
MAX_MEMBERS = 1000
MAX_PART_HEADER_SIZE = 4096  # bytes; the time of the standard library's parser is the square of it
Members = dict[str, list[str | Upload]]


def read(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """The object that a form describes.

    :raises TooLarge: as :func:`members_of`
    :raises BadRequest: as :func:`members_of`
    :raises Invalid: for members with an unexpected file or invalid JSON
    """
    return _object(endpoint, members_of(request, endpoint))


def members_of(request: Request, endpoint: Endpoint) -> Members:
    """The texts and files of a form by the names of its members.

    :raises TooLarge: for a form that is larger than the limit of its files together; no more is read into memory
    :raises BadRequest: for a malformed form
    """
    content_type = request.headers.get("Content-Type", ENCODED)
    max_size = len(uploads_of(endpoint)) * endpoint.registry.settings["max_upload_size"] + MAX_TEXT_SIZE
    return parse(bodies.read_content(request, max_size, "netinv.max_upload_size"), content_type)


def parse(content: bytes, content_type: str, max_members: int = MAX_MEMBERS) -> Members:
    """The texts and files in the body of a form.

    :raises BadRequest: for a malformed form, or more than ``max_members`` texts (of one with files:
        :data:`MAX_MEMBERS`)
    :raises UnsupportedMedia: for a form in another charset than UTF-8
    """
    bodies.require_utf8(content_type)
    is_multipart = content_type.lower().startswith(MULTIPART)
    members: Members = {}
    for name, value in _parts(content, content_type) if is_multipart else _pairs(content, max_members):
        members.setdefault(name, []).append(value)
    return members


def _object(endpoint: Endpoint, members: Members) -> dict[str, Any]:
    """The members as in a JSON body; members without a field are kept and treated as in JSON."""
    values_by_name: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for name, values in members.items():
        field = endpoint.writable.get(name)
        try:
            value = field.from_form(values) if field is not None else values[-1]
        except colander.Invalid as error:
            errors[name] = errors_of(error)
            continue
        if value is not NONE:
            values_by_name[name] = value
    if errors:
        raise Invalid(errors)
    return values_by_name


def _pairs(content: bytes, max_members: int) -> list[tuple[str, str]]:
    try:
        return parse_qsl(content.decode(), keep_blank_values=True, errors="strict", max_num_fields=max_members)
    except ValueError as error:
        raise BadRequest(f"Form parse error - {error}") from None


def _parts(content: bytes, content_type: str) -> Iterator[tuple[str, str | Upload]]:
    """The parts between the boundaries, by their names (RFC 2046, 5.1.1)."""
    boundary = _header("Content-Type", content_type).get_param("boundary")
    if not isinstance(boundary, str) or not 0 < len(boundary) <= 70 or not boundary.isascii():
        raise _malformed_body("Invalid boundary")
    _, *parts = (b"\r\n" + content).split(b"\r\n--" + boundary.encode(), MAX_MEMBERS + 1)
    for part in parts:
        if part.startswith(b"--"):
            return
        if part is parts[-1] and len(parts) > MAX_MEMBERS:
            raise _malformed_body("Too many parts")
        padding, opened, rest = part.partition(b"\r\n")
        head, divided, data = (b"\r\n" + rest).partition(b"\r\n\r\n")
        if padding.strip(b" \t") or not opened or not divided:
            raise _malformed_body("A part has no header")
        yield _part(head.lstrip(), data)
    raise _malformed_body("The end is missing")


def _part(head: bytes, data: bytes) -> tuple[str, str | Upload]:
    """A part's name, and its text or file; names are UTF-8 (RFC 7578, 5.1)."""
    if len(head) > MAX_PART_HEADER_SIZE:
        raise _malformed_body(f"A part has a header of more than {MAX_PART_HEADER_SIZE} bytes")
    header = email.parser.HeaderParser().parsestr(head.decode("utf-8", "replace"))
    name, file_name = header.get_param("name", header="Content-Disposition"), header.get_filename()
    if header.get_content_disposition() != "form-data" or not isinstance(name, str):
        raise _malformed_body("A part has no name")
    if file_name is not None:
        return name, Upload(file_name, data)
    try:
        return name, data.decode()
    except UnicodeDecodeError:
        raise _malformed_body("A part is not UTF-8") from None


def _header(name: str, value: str) -> Message:
    header = Message()
    header[name] = value
    return header


def _malformed_body(reason: str) -> BadRequest:
    return BadRequest(f"Multipart form parse error - {reason}")
