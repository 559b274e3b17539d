"""Where logs and traces go, as whoever runs the service has asked for."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable

from fabula.config.serving import Serving
from fabula.errors import SettingsError
from fabula.service.observe.repeats import RepeatsCounted
from fabula.service.observe.requests import AsJson, AsText

ASKED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
"""Variables of OpenTelemetry's own that say where traces go."""


def begin_log(serving: Serving) -> None:
    """Has Fabula's log written to standard error, a line a request, as text or as JSON.

    A warning that comes again within a minute is counted. Of what libraries log, warnings are in
    it, too. One that sets a log up for itself, as the MCP SDK does, finds this one and leaves it.
    """
    handler = RepeatsCounted(sys.stderr)
    text = AsText("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(AsJson() if serving.log == "json" else text)
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    log = logging.getLogger("fabula")
    log.handlers.clear()
    log.setLevel(min(log.level or logging.INFO, logging.INFO))


def begin_traces() -> Callable[[], None]:
    """Has spans sent where OpenTelemetry's variables say; nowhere, where they say nothing.

    What it returns sends those that are still to be sent. Raises SettingsError where what sends
    them is not installed.
    """
    if not any(map(os.environ.get, ASKED)):
        return lambda: None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"Traces need the package {error.name}: install `fabula[otel]`, or unset {ASKED[0]}."
        ) from error
    from opentelemetry import trace

    name = os.environ.get("OTEL_SERVICE_NAME", "fabula")
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider.shutdown
