"""Spans, from a question through retrieval to each model call, in OpenTelemetry's words.

Where `opentelemetry-api` is not installed, or no SDK is set up, a span costs next to nothing. The
names are those of the GenAI conventions (semantic-conventions-genai, all still in development, as
of 2026-11) and of the stable database conventions; here is their one home.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
TEMPERATURE = "gen_ai.request.temperature"
MOST_TOKENS = "gen_ai.request.max_tokens"
STREAM = "gen_ai.request.stream"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
OUTPUT = "gen_ai.output.type"
DATA_SOURCE = "gen_ai.data_source.id"
TOP_K = "gen_ai.request.top_k"
QUERY_TEXT = "gen_ai.retrieval.query.text"
SYSTEM = "db.system.name"
SUMMARY = "db.query.summary"
ERROR = "error.type"
MODE = "fabula.mode"
JOB = "fabula.job"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The variable that has texts told, too: SPAN_ONLY or SPAN_AND_EVENT."""


class Span:
    """A span that is under way; what is told of it is lost where nobody traces."""

    def __init__(self, traced: Any = None) -> None:
        self._traced = traced

    def tell(self, attributes: Mapping[str, Any]) -> None:
        """Adds what is known now; None and '' are not told."""
        if self._traced is not None:
            for name, value in attributes.items():
                if value not in (None, ""):
                    self._traced.set_attribute(name, value)

    def tell_tokens(self, sent: int, written: int, cached: int) -> None:
        """Adds the tokens that a call took; `cached` are those of the sent that cost less."""
        counts = {INPUT_TOKENS: sent, OUTPUT_TOKENS: written, CACHED_TOKENS: cached or None}
        self.tell(counts)

    def fail(self, error: BaseException) -> None:
        """Says that it went wrong: of which kind, not in which words, as those may quote a text."""
        if self._traced is not None:
            from opentelemetry.trace import Status, StatusCode

            self._traced.set_attribute(ERROR, type(error).__name__)
            self._traced.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        """Ends one that `begin` began."""
        if self._traced is not None:
            self._traced.end()


@contextmanager
def span(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator[Span]:
    """A span around what runs inside; what runs there has it as parent."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with tracer.start_as_current_span(
        name, kind=_kind(client), record_exception=False, set_status_on_exception=False
    ) as traced:
        told = Span(traced)
        told.tell(attributes)
        try:
            yield told
        except BaseException as error:
            told.fail(error)
            raise


def begin(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Span:
    """A span that `end` ends, for what goes on from call to call as a stream does."""
    tracer = _tracer()
    if tracer is None:
        return Span()
    told = Span(tracer.start_span(name, kind=_kind(client)))
    told.tell(attributes)
    return told


@contextmanager
def request(method: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """A span around a request to a service, in the trace that its headers name."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    from opentelemetry.propagate import extract

    with tracer.start_as_current_span(
        method,
        context=extract(dict(headers)),
        kind=_api().SpanKind.SERVER,
        record_exception=False,
        set_status_on_exception=False,
    ) as traced:
        told = Span(traced)
        told.tell({"http.request.method": method})
        yield told


def with_content() -> bool:
    """Whether texts may be told, as who runs it has asked for."""
    return os.environ.get(CAPTURE, "").upper() in ("SPAN_ONLY", "SPAN_AND_EVENT")


@cache
def _api() -> Any:
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace


def _tracer() -> Any:
    api = _api()
    return api and api.get_tracer("fabula")


def _kind(client: bool) -> Any:
    kinds = _api().SpanKind
    return kinds.CLIENT if client else kinds.INTERNAL
