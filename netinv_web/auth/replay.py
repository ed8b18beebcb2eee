"""Forms that were posted when the session was over: the sign-in page keeps their fields, and a page posts them again.

Only what a page of this service posted is kept (:func:`netinv_web.auth.sessions.is_same_origin`). Files cannot be kept,
secrets are not.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence

from pyramid.request import Request
from pyramid.response import Response

from netinv_core import json_values
from netinv_core.errors import RequestError
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_web.auth.sessions import is_same_origin
from netinv_web.pages import form_of, form_text, local_path, page

MAX_SIZE = 2**20  # bytes of a form that is kept
MEMBER, PATH_MEMBER = "_replay", "_replay_path"
SECRET_NAME = re.compile(r"(?:^|_)(?:password|secret|token)(?:_|$)")
FORM_MEDIA = frozenset({"multipart/form-data", "application/x-www-form-urlencoded"})
TEMPLATE = "netinv_web:templates/send_again.jinja2"


@dataclasses.dataclass(frozen=True)
class KeptForm:
    """The fields of a form by name and text, the path that they were posted to, and the names of those that are lost:
    files and secrets.
    """

    path: str
    fields: Sequence[tuple[str, str]]
    lost: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The fields as JSON, for a hidden input."""
        return json.dumps([list(pair) for pair in self.fields])


def kept_form(request: Request) -> KeptForm | None:
    """The form of a request without session; ``None`` for other requests, larger forms, and those of other sites."""
    if request.method not in UNSAFE_METHODS or request.content_type not in FORM_MEDIA or not is_same_origin(request):
        return None
    if request.content_length is None or request.content_length > MAX_SIZE:
        return None
    try:
        pairs = list(form_of(request).items())
    except RequestError:  # a form that cannot be read is not kept
        return None
    fields = [(name, value) for name, value in pairs if isinstance(value, str) and not _is_secret(name)]
    kept = {name for name, _ in fields}
    lost = [name for name, value in pairs if name not in kept and (value if isinstance(value, str) else value.name)]
    return KeptForm(request.path_qs, fields, lost)


def _is_secret(name: str) -> bool:
    """True for the name of a field whose value is not written into a page."""
    return SECRET_NAME.search(name) is not None


def from_sign_in(request: Request) -> KeptForm | None:
    """The form that the sign-in page kept; ``None`` without one."""
    text = form_text(request, MEMBER)
    if not text:
        return None
    try:
        pairs = json_values.parse(text)
        fields = [(str(name), str(value)) for name, value in pairs]
    except (TypeError, ValueError):
        return None
    return KeptForm(local_path(form_text(request, PATH_MEMBER, "/")), fields)


def send_again(request: Request, form: KeptForm) -> Response:
    """The page that posts a kept form again: by itself with scripts, by its button without."""
    return page(request, TEMPLATE, {"form": form})
