"""Spans of requests, SQL statements and webhook deliveries, exported by OTLP over HTTP.

OpenTelemetry's environment variables (``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER`` and others) configure the rest.
Parameters of statements, headers, queries and bodies are in no span.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import uuid
from collections.abc import Iterator
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from sqlalchemy import event
from sqlalchemy.engine import Engine

from netinv_core.telemetry.log_context import LogContext

MAX_STATEMENT = 4000  # characters
_SPAN = "netinv_span"
_propagator = TraceContextTextMapPropagator()


class Tracing:
    """Creates spans; ``processor`` exports them."""

    def __init__(self, processor: SpanProcessor) -> None:
        version = importlib.metadata.version("netinv-core")
        attributes = {"service.version": version}
        if "OTEL_SERVICE_NAME" not in os.environ:
            attributes["service.name"] = "netinv"
        provider = TracerProvider(resource=Resource.create(attributes))
        provider.add_span_processor(processor)
        self._tracer = provider.get_tracer("netinv_core", version)
        self.flush = provider.force_flush

    @classmethod
    def exporting_to(cls, endpoint: str) -> Tracing:
        """A tracing whose spans a background thread sends to a collector: ``http://127.0.0.1:4318``."""
        return cls(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")))

    @contextlib.contextmanager
    def request(self, environ: dict[str, Any], context: LogContext) -> Iterator[Span]:
        """Runs the block in the span of a request, which continues the trace of its header ``traceparent`` (W3C)."""
        sent = {name: environ.get(f"HTTP_{name.upper()}", "") for name in _propagator.fields}
        method = environ.get("REQUEST_METHOD", "")
        attributes = {
            "http.request.method": method,
            "url.path": environ.get("PATH_INFO", ""),
            "client.address": context.client,
            "netinv.request.id": str(context.request_id),
        }
        parent = _propagator.extract({name: value for name, value in sent.items() if value})
        with self._tracer.start_as_current_span(method, parent, SpanKind.SERVER, attributes) as span:
            context.trace_id = trace.format_trace_id(span.get_span_context().trace_id)
            yield span

    def end_request(self, span: Span, method: str, status: int, context: LogContext) -> None:
        """Completes the span of a request."""
        span.update_name(f"{method} {context.route}")
        span.set_attributes({"http.response.status_code": status, "http.route": context.route})
        if status >= 500:
            span.set_status(Status(StatusCode.ERROR))

    @contextlib.contextmanager
    def delivery(self, delivery_id: Any, webhook: str, request_id: uuid.UUID | None) -> Iterator[Span]:
        """Runs the block in the span of an attempt at a webhook delivery."""
        attributes = {
            "netinv.delivery": str(delivery_id),
            "netinv.webhook": webhook,
            "netinv.request.id": str(request_id),
        }
        with self._tracer.start_as_current_span(
            "webhook delivery", kind=SpanKind.PRODUCER, attributes=attributes
        ) as span:
            yield span

    def headers(self) -> dict[str, str]:
        """The headers that continue the present trace at a receiver (``traceparent``)."""
        carrier: dict[str, str] = {}
        _propagator.inject(carrier)
        return carrier

    def end_attempt(self, span: Span, status: int | None, error: str) -> None:
        """Completes the span of an attempt."""
        if status is not None:
            span.set_attribute("http.response.status_code", status)
        if error or status is None or not 200 <= status < 300:
            span.set_status(Status(StatusCode.ERROR, error))

    # -- SQL statements

    def listen(self, engine: Engine) -> None:
        """Creates a span for each statement of an engine within another span."""
        event.listen(engine, "before_cursor_execute", self._begin_statement)
        event.listen(engine, "after_cursor_execute", self._end_statement)
        event.listen(engine, "handle_error", self._fail_statement)

    def _begin_statement(
        self, connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        if context is not None and trace.get_current_span().is_recording():
            attributes = {
                "db.system.name": connection.dialect.name,
                "db.query.text": statement[:MAX_STATEMENT],
            }
            name = statement.split(None, 1)[0].upper() if statement.strip() else "SQL"
            setattr(context, _SPAN, self._tracer.start_span(name, kind=SpanKind.CLIENT, attributes=attributes))

    def _end_statement(
        self, connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool
    ) -> None:
        span = getattr(context, _SPAN, None)
        if span is not None:
            span.end()

    def _fail_statement(self, error: Any) -> None:
        span = getattr(error.execution_context, _SPAN, None)
        if span is not None and span.is_recording():
            span.set_status(Status(StatusCode.ERROR, type(error.original_exception).__name__))
            span.end()
