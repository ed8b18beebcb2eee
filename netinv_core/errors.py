"""Exceptions that end a request. One exception view (:mod:`netinv_core.http.errors`) writes every body."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

FieldErrors = dict[str, Any]
NON_FIELD = "non_field_errors"  # the member with the messages about a body as a whole
NO_DATA = "No data provided"  # of a body that is null
MAX_TEXT_LENGTH = 500  # characters of a client's text that a message repeats


class Message(str):
    """A message as clients of version 1 expect it, with the ``explanation`` that problems have in its place.

    One that takes time to make is given as a function: of the errors of a long list few are told.
    """

    __slots__ = ("_explanation",)
    _explanation: str | Callable[[], str]

    def __new__(cls, text: str, explanation: str | Callable[[], str]) -> Message:
        message = super().__new__(cls, text)
        message._explanation = explanation
        return message

    @property
    def explanation(self) -> str:
        """The sentence for people."""
        return self._explanation if isinstance(self._explanation, str) else self._explanation()


def explain(message: Any) -> str:
    """The explanation of a message, for people; the message itself where it has none."""
    return message.explanation if isinstance(message, Message) else str(message)


CONCURRENT_CHANGE = "The change conflicts with another one made at the same time."
MAX_FAULTY = 100  # objects of a list whose errors are listed
MAX_NAMED_OBJECTS = 20  # in the messages about objects that a request leads to
MAX_MESSAGES = 1000  # entries of any list or mapping in an error's body, messages among them
MAX_TEXT = 2000  # characters of a message: it may repeat what was sent


def not_an_object(value: Any) -> FieldErrors:
    """The errors of a body, or an item of one, that is no JSON object."""
    return {NON_FIELD: [f"Invalid data. Expected a dictionary, but got {type(value).__name__}."]}


class RequestError(Exception):
    """An error answered with ``status`` and ``body``. The transaction is rolled back.

    ``code`` names the kind of error to programs. ``body_schema`` is the OpenAPI schema of the body, where it is not
    that of all errors. ``object_errors`` are the errors of each object of a list, empty for valid ones, where they are
    known; the body may leave some out, or not say which object it is about. ``extra`` has members of the answer
    beside the messages, such as representations.
    """

    status = 400
    code = "bad_request"
    body_schema: ClassVar[Mapping[str, Any] | None] = None
    object_errors: Sequence[FieldErrors] = ()
    extra: Mapping[str, Any] = {}

    def __init__(self, body: Any, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body)
        self.body = body
        self.headers = dict(headers or {})


class Invalid(RequestError):
    """400: the body, or a query parameter, is wrong. The body maps field names to lists of messages.

    ``object_count`` is the number of entries about objects in the body of :meth:`batch`; ``None`` in other errors.
    """

    code = "invalid"
    object_count: int | None = None

    @classmethod
    def field(cls, name: str, *messages: str) -> Invalid:
        """One field with its messages."""
        return cls({name: list(messages)})

    @classmethod
    def whole(cls, *messages: str) -> Invalid:
        """Messages about the body as a whole."""
        return cls({NON_FIELD: list(messages)})

    @classmethod
    def first(cls, errors: Sequence[FieldErrors]) -> Invalid:
        """The errors of the first faulty object of a list, as clients of PATCH and PUT expect them."""
        error = cls(next(entry for entry in errors if entry))
        error.object_errors = errors
        return error

    @classmethod
    def batch(cls, errors: Sequence[FieldErrors]) -> Invalid:
        """One entry for each object of a list, empty for valid ones.

        After :data:`MAX_FAULTY` faulty ones, a count replaces the rest.
        """
        faulty = [place for place, error in enumerate(errors) if error]
        listed, summary = list(errors), []
        if len(faulty) > MAX_FAULTY:
            more = f"{len(faulty) - MAX_FAULTY} more of the {len(errors)} objects have errors, which are not listed."
            listed, summary = listed[: faulty[MAX_FAULTY - 1] + 1], [{NON_FIELD: [more]}]
        error = cls([*listed, *summary])
        error.object_count, error.object_errors = len(listed), errors
        return error


class _Detailed(RequestError):
    detail = ""

    def __init__(self, detail: str | None = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__({"detail": detail or self.detail}, headers)


class BadRequest(_Detailed):
    """400 with a ``detail``: the request as such cannot be read."""


class Denied(_Detailed):
    """403: not authenticated, or not permitted. ``missing`` is the label of the model and the action whose permission
    the user lacks, where that is the reason.
    """

    status = 403
    code = "permission_denied"
    detail = "You do not have permission to perform this action."
    objects: Collection[tuple[str, Any]] = ()  # labels and ids of the objects that it is about, where only some are

    @property
    def reason(self) -> str:
        """The sentence for a page."""
        return error_text(self.body)

    def __init__(
        self,
        detail: str | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        missing: tuple[str, str] | None = None,
    ) -> None:
        super().__init__(detail, headers)
        self.missing = missing


class NotFound(_Detailed):
    """404: no such path, or no such object for this user."""

    status = 404
    code = "not_found"
    detail = "Not found."


class NotAllowed(_Detailed):
    """405: the path exists, the method does not."""

    status = 405
    code = "method_not_allowed"

    def __init__(self, method: str, allowed: str) -> None:
        super().__init__(f'Method "{method}" not allowed.', {"Allow": allowed})


class NotAcceptable(_Detailed):
    """406: no representation the client accepts."""

    status = 406
    code = "not_acceptable"
    detail = "Could not satisfy the request Accept header."


class Conflict(_Detailed):
    """409: the state of the objects does not permit the request, such as others that depend on one to be deleted.

    ``objects`` has label, id and name of the others that the user may view, as far as the raiser knows them.
    """

    status = 409
    code = "conflict"
    objects: Sequence[tuple[str, Any, str]] = ()


class Gone(_Detailed):
    """410: the data existed and is no longer stored."""

    status = 410
    code = "gone"


class PreconditionFailed(_Detailed):
    """412: the objects have changed since the client read them.

    ``objects`` has their full representations of the newest version, by id.
    """

    status = 412
    code = "precondition_failed"
    body_schema: ClassVar[Mapping[str, Any] | None] = {
        "type": "object",
        "properties": {
            "detail": {"type": "string"},
            "current": {
                "description": "The representation as it is now; of a write of a list, one for each that differs."
            },
        },
        "required": ["detail"],
    }
    detail = "The object has changed: its ETag does not meet the condition of the request."

    def __init__(self, objects: Mapping[Any, dict[str, Any]]) -> None:
        super().__init__()
        self.objects = objects


class TooLarge(_Detailed):
    """413: the body is larger than the limit."""

    status = 413
    code = "too_large"


class AnswerTooLarge(TooLarge):
    """413: the answer would be larger than the settings allow."""

    code = "answer_too_large"


class TooLong(_Detailed):
    """414: the path or the query is longer than the limit."""

    status = 414
    code = "uri_too_long"


class HeaderTooLarge(_Detailed):
    """431: a header is longer than the limit."""

    status = 431
    code = "header_too_large"


class UnsupportedMedia(_Detailed):
    """415: the body, or its charset, is of a kind that the path does not take."""

    status = 415
    code = "unsupported_media_type"


class KeyReused(_Detailed):
    """422: the Idempotency-Key is that of another request."""

    status = 422
    code = "idempotency_key_reused"
    detail = "The Idempotency-Key was used for another request: its method, path, query or body differs."


class PreconditionRequired(_Detailed):
    """428: a write has to name the ETag of the object that it changes."""

    status = 428
    code = "precondition_required"


class TooManyRequests(_Detailed):
    """429: too many attempts or requests. The next one is allowed after ``seconds``."""

    status = 429
    code = "too_many_requests"

    def __init__(self, seconds: int, reason: str = "Too many attempts to sign in.") -> None:
        super().__init__(f"{reason} Try again in {seconds} seconds.", {"Retry-After": str(seconds)})


class Unavailable(_Detailed):
    """503: the package of this path is quarantined, or the database is not available."""

    status = 503
    code = "unavailable"


class PackageFailed(Unavailable):
    """503: a plugin failed in a way that it did not foresee, which was logged. Other requests are answered."""

    code = "package_failed"


class InternalError(_Detailed):
    """500: an unexpected error, which was logged."""

    status = 500
    code = "internal_error"
    detail = "The service failed to answer this request; the failure was logged."


def error_text(body: Any) -> str:
    """The messages of an error's body in one line."""
    if isinstance(body, dict):
        parts = ((name, error_text(value)) for name, value in body.items())
        return "; ".join(
            text if name in ("detail", "__all__", NON_FIELD) else f"{name}: {text}" for name, text in parts
        )
    return " ".join(filter(None, map(error_text, body))) if isinstance(body, list) else str(body)


def named_errors(entries: Iterable[tuple[str, Any]]) -> list[str]:
    """The errors of objects that a request leads to, each behind the name of the object; after
    :data:`MAX_NAMED_OBJECTS` a count of the others.
    """
    texts = [f"{name}: {error_text(errors)}" for name, errors in entries if errors]
    more = len(texts) - MAX_NAMED_OBJECTS
    return texts if more <= 0 else [*texts[:MAX_NAMED_OBJECTS], f"{more} more are not listed."]


def cut_to_limits(body: Any) -> Any:
    """A body with texts, lists and mappings cut to their limits.

    A list at the top keeps one entry for each object (:meth:`Invalid.batch`).
    """
    return [_cut(part) for part in body] if isinstance(body, list) else _cut(body)


def _cut(body: Any) -> Any:
    if isinstance(body, str):
        return body if len(body) <= MAX_TEXT else f"{body[:MAX_TEXT]}… ({len(body) - MAX_TEXT} more characters)"
    if isinstance(body, dict):
        return {_cut(name): _cut(value) for name, value in islice(body.items(), MAX_MESSAGES)}
    if isinstance(body, list) and len(body) > MAX_MESSAGES:
        return [*map(_cut, body[:MAX_MESSAGES]), f"{len(body) - MAX_MESSAGES} more are not listed."]
    return [_cut(part) for part in body] if isinstance(body, list) else body


def short(text: str) -> str:
    """Truncates a client's text for a message."""
    return text if len(text) <= MAX_TEXT_LENGTH else f"{text[:MAX_TEXT_LENGTH]}…"
