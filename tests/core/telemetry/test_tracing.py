"""Traces: spans of requests, SQL statements and deliveries, what is not in them, and their export by OTLP."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from netinv_core.settings import read
from netinv_core.telemetry import tracing
from netinv_core.telemetry.otel import Tracing
from netinv_extras.webhooks.worker import deliver_now
from netinv_testing import Service
from tests.support.databases import migrated_database
from tests.support.log_lines import LogLines
from tests.support.receivers import Receiver

SITES = "/api/dcim/sites/"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SETTINGS = {"netinv.otel_endpoint": "http://127.0.0.1:9", "netinv.webhook_allow": "127.0.0.0/8"}


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Holds the spans."""
    return InMemorySpanExporter()


@pytest.fixture(scope="module")
def traced(
    exporter: InMemorySpanExporter, tmp_path_factory: pytest.TempPathFactory, database_template: str
) -> Iterator[Service]:
    """A service with traces, on a database of its own."""
    with (
        pytest.MonkeyPatch.context() as patches,
        migrated_database(tmp_path_factory.mktemp("traced"), database_template) as engine,
    ):
        recording = Tracing(SimpleSpanProcessor(exporter))
        patches.setattr(tracing, "_tracing", lambda endpoint: recording)
        yield Service(engine, SETTINGS)


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Any:
    """``spans()``: the spans since the test began."""
    exporter.clear()
    return exporter.get_finished_spans


def test_a_request_is_a_span_with_its_statements(traced: Service, spans: Any) -> None:
    request_id = str(uuid.uuid4())
    traced.api.send("GET", f"{SITES}?name=secret-name", headers={"X-Request-ID": request_id}, status=200)
    *statements, request = spans()
    assert (request.name, request.kind) == (f"GET {SITES}", SpanKind.SERVER)
    assert request.attributes["http.response.status_code"] == 200
    assert request.attributes["netinv.request.id"] == request_id
    assert "SELECT" in {span.name for span in statements} <= {"SELECT", "BEGIN"}
    assert {span.parent.span_id for span in statements} == {request.context.span_id}
    assert "secret-name" not in str([(span.name, dict(span.attributes)) for span in spans()])
    assert request.resource.attributes["service.name"] == "netinv"


def test_a_trace_is_continued_and_named_in_the_log(traced: Service, spans: Any, log_lines: LogLines) -> None:
    traced.api.send("GET", SITES, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"}, status=200)
    request = spans()[-1]
    assert f"{request.context.trace_id:032x}" == TRACE and f"{request.parent.span_id:016x}" == PARENT
    assert log_lines.of("netinv.access")[-1]["trace_id"] == TRACE


@pytest.mark.parametrize("header", ["", "x", "00-0-0-01", f"00-{TRACE}-{PARENT}-01,x", "é" * 100])
def test_another_header_begins_a_trace(traced: Service, spans: Any, header: str) -> None:
    traced.api._app.get("/api/", extra_environ={"HTTP_TRACEPARENT": header}, status=403)
    assert spans()[-1].parent is None


def test_probes_are_not_traced(traced: Service, spans: Any) -> None:
    traced.anonymous.get("/health/live")
    assert not spans()


def test_a_statement_that_fails_ends_its_span(traced: Service, spans: Any) -> None:
    traced.api.send("GET", SITES, query={"name__re": "("}, status=400)
    name = traced.unique()
    traced.api.post("/api/dcim/manufacturers/", {"name": name, "slug": name})
    assert all(span.end_time for span in spans())


def test_a_delivery_is_a_span_whose_trace_the_receiver_gets(traced: Service, spans: Any) -> None:
    name, request_id = traced.unique(), str(uuid.uuid4())
    with Receiver() as receiver:
        body = {"name": name, "content_types": ["tenancy.tenant"], "type_create": True, "payload_url": receiver.url}
        traced.api.post("/api/extras/webhooks/", body)
        headers = {"X-Request-ID": request_id}
        traced.api.post("/api/tenancy/tenants/", {"name": name, "slug": name}, headers=headers)
        assert deliver_now(traced.engine, traced.registry, 60)
        (received,) = receiver.received
    (span,) = [span for span in spans() if span.name == "webhook delivery"]
    assert span.attributes["netinv.request.id"] == request_id and span.attributes["netinv.webhook"] == name
    assert span.attributes["http.response.status_code"] == 200 and span.status.status_code != StatusCode.ERROR
    identifiers = f"{span.context.trace_id:032x}-{span.context.span_id:016x}"
    assert received.headers["traceparent"].startswith(f"00-{identifiers}-")


def test_spans_are_exported_by_otlp() -> None:
    with Receiver() as collector:
        exporting = Tracing.exporting_to(collector.url)
        with exporting.delivery(1, "hook", None):
            pass
        assert exporting.flush()
        (received,) = collector.received
    assert received.path.endswith("/v1/traces")
    request = ExportTraceServiceRequest.FromString(received.body)
    assert [span.name for span in request.resource_spans[0].scope_spans[0].spans] == ["webhook delivery"]


def test_an_endpoint_is_an_address() -> None:
    with pytest.raises(ValueError, match=r"netinv\.otel_endpoint"):
        read({"netinv.secret": "x" * 32, "netinv.otel_endpoint": "collector:4318"}, {})


def test_without_the_setting_nothing_is_traced(service: Service) -> None:
    assert tracing.tracing_of(service.registry.settings) is None
