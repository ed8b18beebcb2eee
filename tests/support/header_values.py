"""Texts that break headers and addresses of answers, where they are not encoded or refused."""

from __future__ import annotations

VALUES = {
    "CR": "x\rSet-Cookie: a=b",
    "LF": "x\nSet-Cookie: a=b",
    "CRLF": "x\r\n\r\n<script>x</script>",
    "NUL": "x\x00y",
    "DEL": "x\x7f\x1by",
    "separators": "x\x85\u2028y",
    "Latin-1": "caf\xe9",
    "other scripts": "\u6771\u4eac",
    "many emoji": "\U0001f600" * 60,
    "quotes": '"; filename="evil.html',
    "100 kB": "x" * 100_000,
    "100 kB of emoji": "\U0001f600" * 25_000,
}
