"""Pipeline of a request: what runs around every view, as two tables in the order in which a request passes them.

They name each step, and say to which requests it applies, and what it does. A request enters only the steps that apply.

* :data:`BEFORE_ROUTING` costs neither routing nor a connection to the database. :class:`Around` and :class:`Precheck`
  are steps of Pyramid's execution policy, the outermost function.
* Then a request is routed, again where a concurrent one aborted it (pyramid_retry).
* :data:`AROUND_VIEWS` has modules with tweens (:class:`Included`) and view derivers of Pyramid (:class:`Deriver`).
"""

from __future__ import annotations

import dataclasses
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pyramid.interfaces import IRouter
from pyramid.predicates import RequestMethodPredicate
from pyramid.request import Request
from pyramid.response import Response
from pyramid.viewderivers import INGRESS, VIEW
from pyramid_retry import RetryableExecutionPolicy
from webob.datetime_utils import parse_date

from netinv_core.errors import BadRequest, HeaderTooLarge, NotAllowed, NotFound, RequestError, TooLarge, TooLong
from netinv_core.http import dry_run, health, idempotency, mount, negotiation, rate_limits, warned
from netinv_core.http.methods import UNSAFE_METHODS
from netinv_core.http.problems import error_response, log_unexpected
from netinv_core.http.request_uow import IDEMPOTENCY_KEY, unit_of_work
from netinv_core.http.security_policy import SecurityPolicy
from netinv_core.packages import as_exception
from netinv_core.telemetry import access_log, log_context, metrics
from netinv_core.telemetry.log_context import LogContext, id_of
from netinv_core.telemetry.tracing import tracing_of

log = logging.getLogger(__name__)
Environ = dict[str, Any]
Settings = Mapping[str, Any]
Policy = Callable[[Environ, IRouter], Response]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
MAX_PATH_LENGTH = 4096
MAX_QUERY_LENGTH = 2**16
MAX_HEADER_LENGTH = 4096
# Headers that netinv or its libraries parse. The time of some parsers is the square of the length.
PARSED = (
    *("ACCEPT", "ACCEPT_ENCODING", "AUTHORIZATION", "HOST", "RANGE"),
    *("IF_MATCH", "IF_MODIFIED_SINCE", "IF_NONE_MATCH", "IF_RANGE", "IF_UNMODIFIED_SINCE"),
)
DATES = frozenset({"HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_IF_RANGE"})  # or an ETag in the last
CREDENTIALS = frozenset({"HTTP_AUTHORIZATION", "HTTP_COOKIE"})
_PARSED = {"CONTENT_TYPE": "Content-Type", **{f"HTTP_{name}": name.title().replace("_", "-") for name in PARSED}}
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_][a-z0-9_.-]*)(?::[0-9]{1,5})?", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# For JSON answers, which load and frame nothing. HTML pages set a policy of their own.
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
REQUEST_ID = "X-Request-ID"
DEFAULT_HEADERS = (  # of answers whose views set no others
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Content-Security-Policy", DATA_POLICY),
    ("Cache-Control", "no-store"),
)
READING_VIEW = RequestMethodPredicate("GET", None).phash()  # identifies the predicate of views of GET and HEAD
ATTEMPTS = 3  # for a request whose transaction was aborted because of a concurrent one
ATTEMPTS_TO_READ = 2  # at a replica, and, where that is lost meanwhile, at the primary
MAX_RETRIED_BODY_SIZE = 1 << 20  # bytes; larger bodies are not kept in memory for another attempt


@dataclasses.dataclass(frozen=True)
class Around:
    """Execution policy around the steps that follow, of requests for which ``applies(environ, settings)`` is true, or
    of all.
    """

    name: str
    wrap: Callable[[Policy], Policy]
    applies: Callable[[Environ, Settings], Any] | None = None

    def around(self, inner: Policy) -> Policy:
        """The policy ``inner`` with this step before it."""
        wrapped, applies = self.wrap(inner), self.applies
        if applies is None:
            return wrapped

        def policy(environ: Environ, router: IRouter) -> Response:
            return (wrapped if applies(environ, router.registry.netinv.settings) else inner)(environ, router)

        return policy


@dataclasses.dataclass(frozen=True)
class Precheck:
    """Check of the environment of requests for which ``applies(environ, settings)`` is true, or of all. It raises a
    :class:`RequestError`, or returns.
    """

    name: str
    check: Callable[[Environ, Settings], None]
    applies: Callable[[Environ, Settings], Any] | None = None


@dataclasses.dataclass(frozen=True)
class Included:
    """Module that adds a tween."""

    name: str
    module: str


@dataclasses.dataclass(frozen=True)
class Deriver:
    """View deriver. All requests of a view enter it, or, ``of_writes``, those that may write and for which
    ``applies(request)`` is true.

    ``derive`` gets the view and Pyramid's :class:`IViewDeriverInfo`; it returns the view itself where the step never
    applies to its requests.
    """

    name: str
    derive: Callable[[negotiation.View, Any], negotiation.View]
    under: str
    over: str
    of_writes: bool = False
    applies: Callable[[Request], Any] | None = None
    options: Sequence[str] = ()  # arguments of ``config.add_view``

    def __call__(self, view: negotiation.View, info: Any) -> negotiation.View:
        """The view with this step around it."""
        if self.of_writes and any(predicate.phash() == READING_VIEW for predicate in info.predicates):
            return view
        derived, applies = self.derive(view, info), self.applies
        if derived is view or not self.of_writes:
            return derived

        def wrapper(context: Any, request: Request) -> Any:
            entered = request.method in UNSAFE_METHODS and (applies is None or applies(request))
            return (derived if entered else view)(context, request)

        return wrapper


def _is_no_probe(environ: Environ, settings: Settings) -> bool:
    """True for all requests but those of probes, which come by address, and often."""
    return environ.get("PATH_INFO") not in health.PATHS


# -- steps before routing


def with_log_context(inner: Policy) -> Policy:
    """Begins the log context of a request, and completes its answer: its id, headers of security, log and metrics."""

    def policy(environ: Environ, router: IRouter) -> Response:
        settings: Settings = router.registry.netinv.settings
        context = LogContext(id_of(environ), environ.get("REMOTE_ADDR") or "", began=time.perf_counter())
        context.most_inflated = settings["max_answer_size"]
        token = log_context.enter(context)
        try:
            response = inner(environ, router)
            _complete(response, environ, settings)
            seconds = time.perf_counter() - context.began
            if settings["server_timing"]:
                response.headers["Server-Timing"] = _server_timing(context, seconds)
            if access_log.log.isEnabledFor(logging.INFO):
                access_log.write(environ, response, context, seconds)
            metrics.observe(environ["REQUEST_METHOD"], response.status_int, context, seconds)
            metrics.sample(router.registry.netinv_engine)
        finally:
            log_context.leave(token)
        return response

    return policy


def _complete(response: Response, environ: Environ, settings: Settings) -> None:
    """Adds the request's id, and security headers for browsers and caches, except those that the view set."""
    headers = response.headerlist
    names = {name.lower() for name, _ in headers}
    headers.extend((name, value) for name, value in DEFAULT_HEADERS if name.lower() not in names)
    response.headers[REQUEST_ID] = str(id_of(environ))
    if settings["hsts_seconds"] and environ.get("wsgi.url_scheme") == "https":
        response.headers.setdefault("Strict-Transport-Security", f"max-age={settings['hsts_seconds']}")


def _server_timing(context: LogContext, seconds: float) -> str:
    """The value of Server-Timing (W3C): milliseconds of the database and of the whole request."""
    count, milliseconds = context.statements, context.statement_seconds * 1000
    noun = "statement" if count == 1 else "statements"
    return f'db;dur={milliseconds:.1f};desc="{count} {noun}", total;dur={seconds * 1000:.1f}'


def with_span(inner: Policy) -> Policy:
    """Creates the span of a request (OpenTelemetry)."""

    def policy(environ: Environ, router: IRouter) -> Response:
        tracing, context = tracing_of(router.registry.netinv.settings), log_context.current()
        if tracing is None or context is None:
            return inner(environ, router)
        with tracing.request(environ, context) as span:
            response = inner(environ, router)
            tracing.end_request(span, environ["REQUEST_METHOD"], response.status_int, context)
        return response

    return policy


def errors_answered(inner: Policy) -> Policy:
    """Answers what the steps before the views refuse, and what fails outside of the views."""

    def policy(environ: Environ, router: IRouter) -> Response:
        try:
            return inner(environ, router)
        except RequestError as error:
            return error_response(error, environ)
        except BaseException as raised:
            failed = raised if isinstance(raised, Exception) else as_exception(raised)
            failure = f"{environ.get('REQUEST_METHOD')} {environ.get('PATH_INFO')} failed outside of the views"
            return log_unexpected(failed, environ, router.registry.netinv, failure)

    return policy


def _attempts(request: Request) -> int:
    """The number of attempts at a request: one for a large body, and for a read where there are no replicas."""
    writes = request.method in UNSAFE_METHODS
    if not writes and request.registry.netinv_replicas is None:
        return 1
    length = request.content_length if request.is_body_readable else 0
    if length is None or length > MAX_RETRIED_BODY_SIZE:
        return 1
    return ATTEMPTS if writes else ATTEMPTS_TO_READ


def _drop_virtual_root(environ: Environ, settings: Settings) -> None:
    """Removes a header by which Pyramid would let a client choose the root of traversal."""
    del environ["HTTP_X_VHM_ROOT"]


def _check_header_lengths(environ: Environ, settings: Settings) -> None:
    for name, header in _PARSED.items():
        if len(environ.get(name, "")) > MAX_HEADER_LENGTH:
            raise HeaderTooLarge(f"The header {header} has more than {MAX_HEADER_LENGTH} characters.")


def _drop_unreadable_dates(environ: Environ, settings: Settings) -> None:
    """Removes dates that WebOb fails to convert, such as one of the year 99999: RFC 9110, section 13.1.3, has them
    ignored.
    """
    for name in DATES & environ.keys():
        try:
            parse_date(environ[name])
        except (ValueError, OverflowError):
            del environ[name]


def _check_host(environ: Environ, settings: Settings) -> None:
    """Checks the header Host against ``netinv.allowed_hosts``; an empty list allows every well-formed host.

    :raises BadRequest: naming the setting
    """
    header, allowed_hosts = environ.get("HTTP_HOST"), settings["allowed_hosts"]
    if header is None:
        if allowed_hosts:
            raise BadRequest("The header Host is missing.")
        return
    host = _HOST.fullmatch(header) if len(header) < 300 else None
    if host is None:
        raise BadRequest("The header Host is no name or address of a host.")
    name = host[1].lower().rstrip(".")
    if allowed_hosts and not any(_matches(name, pattern) for pattern in allowed_hosts):
        raise BadRequest("The header Host names a host that this service is not configured for (netinv.allowed_hosts).")


def _matches(name: str, pattern: str) -> bool:
    """True for a host that a pattern allows: its name, a domain with a leading dot for every name below it, or
    ``*``.
    """
    return pattern in ("*", name) or (pattern.startswith(".") and f".{name}".endswith(pattern))


def _refuse_method(environ: Environ, settings: Settings) -> None:
    raise NotAllowed(environ["REQUEST_METHOD"][:20], ", ".join(METHODS))


def _check_path(environ: Environ, settings: Settings) -> None:
    """Checks the decoded path: its length, control characters, and segments with a meaning in traversal.

    Those are ``.`` and ``..``, and ``@@``, which starts the name of a view.

    :raises RequestError: 404, or 414 for a path that is too long
    """
    path = environ.get("PATH_INFO", "")
    if len(path) > MAX_PATH_LENGTH:
        raise TooLong(f"The path has more than {MAX_PATH_LENGTH} characters.")
    if _CONTROL.search(path) or "/@@" in path or ("/." in path and not {".", ".."}.isdisjoint(path.split("/"))):
        raise NotFound()


def _refuse_query(environ: Environ, settings: Settings) -> None:
    raise TooLong(f"The query has more than {MAX_QUERY_LENGTH} characters.")


def _check_length(environ: Environ, settings: Settings) -> None:
    """Checks the length of a body without credentials.

    :raises TooLarge: naming the setting
    """
    text, max_length = environ.get("CONTENT_LENGTH"), settings["max_anonymous_request_size"]
    if text and text.isdecimal() and int(text[:20]) > max_length:
        raise TooLarge(
            f"The request body has {text[:20]} bytes; "
            f"without credentials at most {max_length} are taken (netinv.max_anonymous_request_size)."
        )


# -- the tables

BEFORE_ROUTING: tuple[Around | Precheck, ...] = (
    Around(
        "mount point",
        mount.with_mount_point,
        lambda environ, settings: settings["base_url"] or environ.get("SCRIPT_NAME"),
    ),
    Around("record", with_log_context),
    Around("trace", with_span, lambda environ, settings: settings["otel_endpoint"] and _is_no_probe(environ, settings)),
    Around("errors", errors_answered),
    Precheck(
        "rate of the address",
        rate_limits.check_address,
        lambda environ, settings: settings["rate_limit_address"] is not None and _is_no_probe(environ, settings),
    ),
    Precheck("virtual root", _drop_virtual_root, lambda environ, _: "HTTP_X_VHM_ROOT" in environ),
    Precheck("header lengths", _check_header_lengths),
    Precheck("dates", _drop_unreadable_dates, lambda environ, _: not DATES.isdisjoint(environ)),
    Precheck("host", _check_host, _is_no_probe),
    Precheck("method", _refuse_method, lambda environ, _: environ["REQUEST_METHOD"] not in METHODS),
    Precheck("path", _check_path),
    Precheck("query length", _refuse_query, lambda environ, _: len(environ.get("QUERY_STRING", "")) > MAX_QUERY_LENGTH),
    Precheck(
        "body without credentials",
        _check_length,
        lambda environ, _: environ.get("CONTENT_LENGTH") and CREDENTIALS.isdisjoint(environ),
    ),
)

AROUND_VIEWS: tuple[Included | Deriver, ...] = (
    Included("transaction", "pyramid_tm"),
    Included("route of log lines", "netinv_core.telemetry.access_log"),
    Deriver("negotiated_view", negotiation.negotiated_view, INGRESS, "secured_view", options=negotiation.OPTIONS),
    Deriver("method_checked_view", negotiation.method_checked_view, "secured_view", "rendered_view"),
    Deriver(
        "idempotent_view",
        idempotency.idempotent_view,
        "method_checked_view",
        "rendered_view",
        of_writes=True,
        applies=lambda request: IDEMPOTENCY_KEY in request.headers,
    ),
    Deriver("warned_view", warned.warned_view, "idempotent_view", "rendered_view", of_writes=True),
    Deriver(
        "dry_run_view",
        dry_run.dry_run_view,
        "rendered_view",
        VIEW,
        of_writes=True,
        applies=lambda request: request.query_string,
    ),
)


def execution_policy() -> Policy:
    """The steps before routing as Pyramid's execution policy."""
    policy: Policy = RetryableExecutionPolicy(ATTEMPTS, _attempts)
    checks: list[Precheck] = []
    for step in reversed(BEFORE_ROUTING):
        if isinstance(step, Precheck):
            checks.insert(0, step)
        else:
            policy = step.around(_with_prechecks(tuple(checks), policy) if checks else policy)
            checks = []
    return policy


def _with_prechecks(checks: Sequence[Precheck], inner: Policy) -> Policy:
    """The policy ``inner`` after checks, each of the requests that it applies to."""

    def policy(environ: Environ, router: IRouter) -> Response:
        settings: Settings = router.registry.netinv.settings
        for step in checks:
            if step.applies is None or step.applies(environ, settings):
                step.check(environ, settings)
        return inner(environ, router)

    return policy


def includeme(config: Any) -> None:
    """Adds the steps, the security policy, ``request.uow``, the renderer ``orjson``, and the directives
    ``config.add_identity_source(source, first=False)`` (:data:`netinv_core.http.security_policy.IdentitySource`) and
    ``config.set_netinv_html_renderer(function)`` (:data:`netinv_core.http.negotiation.HtmlRenderer`).
    """
    policy = SecurityPolicy()
    config.set_security_policy(policy)
    config.add_directive("add_identity_source", lambda config, source, **how: policy.add_source(source, **how))
    config.add_request_method(unit_of_work, "uow", reify=True)
    config.add_renderer("orjson", negotiation.renderer_factory)
    config.add_directive("set_netinv_html_renderer", negotiation.set_html_renderer)
    config.set_execution_policy(execution_policy())
    for step in AROUND_VIEWS:
        if isinstance(step, Included):
            config.include(step.module)
        else:
            config.add_view_deriver(step, step.name, under=step.under, over=step.over)
