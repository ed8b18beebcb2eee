"""Frames: the messages between the service and its renderer, over a stream socket.

A frame is a JSON object (the head) and bytes (the body), after the lengths of both. The renderer's heads are short and its texts are bodies:
whatever a renderer sends, the service parses no more than :data:`LONGEST_HEAD` bytes of JSON. The JSON is that of the standard library,
because templates may have integers of more than 64 bits and lone surrogates.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

LONGEST_HEAD = 4096  # bytes of a head that the renderer sends
_LENGTHS = struct.Struct(">II")
Head = dict[str, Any]


class BadFrame(ValueError):
    """Bytes that are no frame, or a frame longer than allowed."""


def pack(head: Head, body: bytes = b"") -> bytes:
    """A frame as bytes."""
    encoded = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return _LENGTHS.pack(len(encoded), len(body)) + encoded + body


def read(receive: Callable[[int], bytes], longest_head: int, longest_body: int) -> tuple[Head, bytes] | None:
    """The next frame, from ``receive(n)``, which gives exactly so many bytes, or fewer at the end of the stream; ``None`` at that end.

    :raises BadFrame: for anything that is no frame
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
