"""Framing of messages between the service and its renderer over a stream socket.

A frame consists of the lengths of head and body (32 bits each), the head (a JSON object) and the body (bytes). Rendered
texts are bodies, so that the service parses at most :data:`MAX_HEAD_BYTES` of JSON from a renderer. The JSON is that of
the standard library, because templates may have integers of more than 64 bits and lone surrogates.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

MAX_HEAD_BYTES = 4096  # of a head from the renderer
_LENGTHS = struct.Struct(">II")
Head = dict[str, Any]


class BadFrame(ValueError):
    """Invalid frame, or one longer than allowed."""


def pack(head: Head, body: bytes = b"") -> bytes:
    """Encodes a frame."""
    encoded = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def read(receive: Callable[[int], bytes], longest_head: int, longest_body: int) -> tuple[Head, bytes] | None:
    """Reads the next frame; returns ``None`` at the end of the stream.

    :param receive: returns exactly as many bytes as its argument says, or fewer at the end of the stream
    :raises BadFrame: for an invalid frame
    """
    lengths = receive(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    head_length, body_length = _LENGTHS.unpack(lengths)
    if head_length > longest_head or body_length > longest_body:
        raise BadFrame("a frame is too long")
    content = receive(head_length + body_length)
    if len(content) < head_length + body_length:
        return None
    try:
        head = json.loads(content[:head_length].decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the head of a frame is not JSON: {error}") from None
    if not isinstance(head, dict):
        raise BadFrame("the head of a frame is no object")
    return head, content[head_length:]
