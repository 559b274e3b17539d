"""A question is one trace: retrieval, each statement and each model call, and no text of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from endpoint import Endpoint
from fabula import Fabula, ModelError, tracing
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


def test_what_fails_says_of_which_kind_it_is_and_not_in_which_words(
    spans: InMemorySpanExporter, fabula: Fabula, endpoint: Endpoint
) -> None:
    endpoint.models = ("text-embedding-3-small",)
    with pytest.raises(ModelError):
        fabula.query("Who is it?")
    failed = [
        one for one in spans.get_finished_spans() if one.status.status_code is StatusCode.ERROR
    ]
    assert [one.name for one in failed] == ["chat gpt-4.1-mini"]
    assert (failed[0].attributes or {})[tracing.ERROR] == "ModelError"
    assert not failed[0].events
