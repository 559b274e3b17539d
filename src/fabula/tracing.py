"""Spans for OpenTelemetry, from a question through retrieval to each model call.

If `opentelemetry-api` is not installed, or no SDK is set up, a span costs next to nothing. The
names are those of the GenAI conventions (semantic-conventions-genai, all still in development as of
2026-11) and of the stable database conventions. They are defined only here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
MODEL = "gen_ai.request.model"
TEMPERATURE = "gen_ai.request.temperature"
MAX_TOKENS = "gen_ai.request.max_tokens"
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
"""The environment variable that has texts recorded as well: SPAN_ONLY or SPAN_AND_EVENT."""

PROVIDER_VARIABLE = "OTEL_PYTHON_TRACER_PROVIDER"
"""The environment variable by which OpenTelemetry finds a provider without any code."""


class Span:
    """A span that is under way. Without a tracer it records nothing."""

    def __init__(self, span: Any = None) -> None:
        self._span = span

    def record(self, attributes: Mapping[str, Any]) -> None:
        """Record attributes, except for those that are None or ''."""
        if self._span is not None:
            for name, value in attributes.items():
                if value not in (None, ""):
                    self._span.set_attribute(name, value)

    def record_tokens(self, sent: int, written: int, cached: int) -> None:
        """Record the tokens of a call to a model; `cached` are those of `sent` that cost less."""
        counts = {INPUT_TOKENS: sent, OUTPUT_TOKENS: written, CACHED_TOKENS: cached or None}
        self.record(counts)

    def fail(self, error: BaseException) -> None:
        """Record the type of an error, without its message, which may quote a text."""
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute(ERROR, type(error).__name__)
            self._span.set_status(Status(StatusCode.ERROR))

    def end(self) -> None:
        """End a span that `begin` began."""
        if self._span is not None:
            self._span.end()


@contextmanager
def span(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator[Span]:
    """Trace what runs inside the `with` block; spans that begin there have this one as parent."""
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with tracer.start_as_current_span(
        name, kind=_kind(client), record_exception=False, set_status_on_exception=False
    ) as started:
        current = Span(started)
        current.record(attributes)
        try:
            yield current
        except BaseException as error:
            current.fail(error)
            raise


def begin(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Span:
    """Begin a span that `end` ends, for work that continues from call to call, as a stream."""
    tracer = _tracer()
    if tracer is None:
        return Span()
    started = Span(tracer.start_span(name, kind=_kind(client)))
    started.record(attributes)
    return started


@contextmanager
def request(method: str, headers: Mapping[str, str]) -> Iterator[Span]:
    """Trace a request to the service, in the trace that its headers name."""
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
    ) as started:
        current = Span(started)
        current.record({"http.request.method": method})
        yield current


def with_content() -> bool:
    """Return whether texts are recorded, which only the environment can allow."""
    return os.environ.get(CAPTURE, "").upper() in ("SPAN_ONLY", "SPAN_AND_EVENT")


@cache
def _api() -> Any:
    try:
        from opentelemetry import trace
    except ModuleNotFoundError:
        return None
    return trace


def _tracer() -> Any:
    # A program that has set up an SDK has imported the module, or names a provider in the
    # environment. In all others no span is recorded, and importing the module only to learn that
    # takes a twentieth of a question at the command line.
    if "opentelemetry.trace" not in sys.modules and PROVIDER_VARIABLE not in os.environ:
        return None
    api = _api()
    return api and api.get_tracer("fabula")


def _kind(client: bool) -> Any:
    kinds = _api().SpanKind
    return kinds.CLIENT if client else kinds.INTERNAL
