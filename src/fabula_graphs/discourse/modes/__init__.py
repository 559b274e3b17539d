"""The mode that walks the discourse graph."""

from __future__ import annotations

from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode
from fabula_graphs.discourse.options import Options

MODES = {
    "discourse": Mode(
        LazyFunction(f"{__name__}.discourse:retrieve"),
        "chunks near to a question, in the sense it asks for, and with its who, when and where",
        options=Options,
        graph="discourse",
        sentence="Looks for events by who, what, when, where and why.",
    )
}
