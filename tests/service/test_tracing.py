"""A question is one trace: retrieval, each statement and each model call, and no text of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from endpoint import Endpoint
from fabula import App, Fabula, ModelError, tracing
from jobs_over_http import until
from served import served
from stories import WINTER

QUESTION = "Who keeps the light?"


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """What is traced from here on. (OpenTelemetry's own provider can be set once a process.)"""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "_tracer", lambda: provider.get_tracer("fabula"))
    return exporter


@pytest.fixture
def fabula(online: None) -> Iterator[Fabula]:
    with Fabula(cache=False) as fabula:
        fabula.ingest_text(WINTER, source="winter.txt")
        yield fabula


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


@pytest.mark.parametrize(
    ("named", "is_imported"),
    [({}, "False"), ({tracing.PROVIDER_VARIABLE: "sdk_tracer_provider"}, "True")],
)
def test_opentelemetry_is_imported_only_where_a_provider_is_set_up(
    named: dict[str, str], is_imported: str
) -> None:
    code = (
        "import sys\n"
        "from fabula import tracing\n"
        "with tracing.span('asked', {}): pass\n"
        "print('opentelemetry.trace' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | named,
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.split() == [is_imported]


def test_a_question_is_one_trace_down_to_its_model_calls(
    spans: InMemorySpanExporter, fabula: Fabula
) -> None:
    spans.clear()
    with tracing.span("asked", {}):
        answer = fabula.query(QUESTION)
    found = named(spans)
    assert len({span.context.trace_id for span in found.values() if span.context}) == 1
    chat = dict(found["chat gpt-4.1-mini"].attributes or {})
    assert chat[tracing.OPERATION] == "chat"
    assert chat[tracing.OUTPUT_TOKENS] == answer.usage["answer"].completion_tokens > 0
    assert chat[tracing.STREAM] is True
    embedded = dict(found["embeddings text-embedding-3-small"].attributes or {})
    assert embedded[tracing.INPUT_TOKENS] == answer.usage["embeddings"].prompt_tokens > 0
    retrieval = dict(found["retrieval default"].attributes or {})
    assert retrieval[tracing.DATA_SOURCE] == "default"
    assert any((span.attributes or {}).get(tracing.SYSTEM) == "neo4j" for span in found.values())


def test_no_text_is_told_unless_who_runs_it_asks_for_it(
    spans: InMemorySpanExporter, fabula: Fabula, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans.clear()
    fabula.query(QUESTION)
    assert QUESTION not in str([span.attributes for span in spans.get_finished_spans()])
    monkeypatch.setenv(tracing.CAPTURE, "SPAN_ONLY")
    fabula.query(QUESTION)
    assert QUESTION in str([span.attributes for span in spans.get_finished_spans()])


def test_a_build_is_traced_through_its_threads(spans: InMemorySpanExporter, fabula: Fabula) -> None:
    spans.clear()
    with tracing.span("built", {}):
        fabula.build("aspects", rebuild=True)
    asked = [span for span in spans.get_finished_spans() if span.name.startswith("chat")]
    assert asked
    [built] = [span for span in spans.get_finished_spans() if span.name == "built"]
    assert {span.context.trace_id for span in [*asked, built] if span.context} == {
        built.context.trace_id if built.context else 0
    }


def test_over_http_a_question_and_a_job_are_a_trace_each(
    spans: InMemorySpanExporter, fabula: Fabula
) -> None:
    with App(cache=False) as app, served(app) as it:
        client = it.client()
        base = "/api/v1/collections/default"
        for number, accepted in enumerate(("application/json", "text/event-stream"), start=1):
            headers = {"traceparent": f"00-{number:032x}-{1:016x}-01", "accept": accepted}
            reply = client.post(f"{base}/ask", json={"question": QUESTION}, headers=headers)
            assert reply.status_code == 200, reply.text
            # It ends behind the last byte, which the client may have read by then.
            deadline = time.monotonic() + 120
            while "POST" not in (own := in_trace(spans, number)):
                assert time.monotonic() < deadline, own.keys()
                time.sleep(0.01)
            assert {"retrieval default", "chat gpt-4.1-mini"} <= own.keys()
            assert (own["POST"].attributes or {})["http.response.status_code"] == 200
        body = {"text": f"Once more. {WINTER}", "source": "again.txt"}
        job = client.post(f"{base}/documents", json=body).json()["id"]
        until(client, job)
        [worked] = [span for span in spans.get_finished_spans() if span.name == "job ingest"]
        assert (worked.attributes or {})[tracing.JOB] == job
        asked = [one for one in in_trace(spans, worked.context.trace_id) if one.startswith("chat")]
        assert asked


def in_trace(spans: InMemorySpanExporter, number: int) -> dict[str, ReadableSpan]:
    """The spans of one trace by name."""
    found = spans.get_finished_spans()
    return {one.name: one for one in found if one.context and one.context.trace_id == number}


def test_what_fails_says_of_which_kind_it_is_and_not_in_which_words(
    spans: InMemorySpanExporter, fabula: Fabula, endpoint: Endpoint
) -> None:
    endpoint.models = ("text-embedding-3-small",)
    with pytest.raises(ModelError):
        fabula.query("Who is it?")
    failed = [
        span for span in spans.get_finished_spans() if span.status.status_code is StatusCode.ERROR
    ]
    assert [one.name for one in failed] == ["chat gpt-4.1-mini"]
    assert (failed[0].attributes or {})[tracing.ERROR] == "ModelError"
    assert not failed[0].events
