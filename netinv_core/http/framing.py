"""Framing of requests: Waitress closes the connection of one that has both a Content-Length and a Transfer-Encoding.

Its body are the chunks. Whoever stands in front of the service may have taken the length for it, so what follows on the
connection may be somebody else's (RFC 9112, section 6.3). Waitress keeps the connection, and tells the application
nothing of the second header. Gunicorn refuses such requests.
"""

from __future__ import annotations

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser


class ClosingParser(HTTPRequestParser):
    """Parser of requests, after Waitress's, that has the server close a connection after a request with two lengths."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parses the first line and the headers."""
        super().parse_header(header_plus)
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            self.headers["CONNECTION"] = "close"


def close_ambiguous_connections() -> None:
    """Has the servers of this process use the parser, whichever way they are started."""
    HTTPChannel.parser_class = ClosingParser
