"""The mode that finds the episodes about something."""

from __future__ import annotations

from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode

MODES = {
    "episodes": Mode(
        LazyFunction(f"{__name__}.episodes:retrieve"),
        "the stretches of the text whose summaries are nearest, none within another",
        graph="episodes",
        kinds=("episode",),
        sentence="Answers from summaries of stretches of the story, in their order.",
    )
}
