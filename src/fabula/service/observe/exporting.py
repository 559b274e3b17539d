"""Set up where logs and traces go."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from fabula.config.serving import Serving
from fabula.errors import SettingsError
from fabula.service.observe.repeats import RepeatsCounted
from fabula.service.observe.requests import JsonFormatter, TextFormatter

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""OpenTelemetry's own variables for where traces go."""


def begin_log(serving: Serving) -> None:
    """Write Fabula's log to standard error, one line for each request, as text or as JSON.

    A warning that is repeated within a minute is counted instead. Libraries' warnings are logged,
    too. `force` replaces earlier handlers; a library that sets up a log of its own later, as the
    MCP SDK does, finds this one and leaves it.
    """
    handler = RepeatsCounted(sys.stderr)
    text = TextFormatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonFormatter() if serving.log == "json" else text)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log = logging.getLogger("fabula")
    log.handlers.clear()
    log.setLevel(min(log.level or logging.INFO, logging.INFO))


def begin_traces() -> Callable[[], None]:
    """Send spans to where OpenTelemetry's variables say; nowhere if they are not set.

    Returns:
        A function that sends the remaining spans.

    Raises:
        SettingsError: The packages that send spans are not installed.
    """
    if not any(map(os.environ.get, ENDPOINT_VARIABLES)):
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"Traces need the package {error.name}: install `fabula[otel]`, or unset "
            f"{ENDPOINT_VARIABLES[0]}."
        ) from error
    from opentelemetry import trace

    name = os.environ.get("OTEL_SERVICE_NAME", "fabula")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider.shutdown
