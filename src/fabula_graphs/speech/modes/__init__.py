"""The mode that finds what somebody says about something."""

from __future__ import annotations

from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode
from fabula_graphs.speech.options import Options

MODES = {
    "speech": Mode(
        LazyFunction(f"{__name__}.speech:retrieve"),
        "what those whom the question names say themselves, nearest to it first",
        options=Options,
        graph="speech",
        sentence="Looks first for what the people of the question say themselves.",
    )
}
