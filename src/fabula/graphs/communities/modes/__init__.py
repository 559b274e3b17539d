"""The modes that answer from reports on communities."""

from __future__ import annotations

from fabula.graph.method import LazyFunction
from fabula.graph.mode import Mode
from fabula.graphs.communities.modes.options import DriftOptions, DynamicOptions, GlobalOptions

MODES = {
    "drift": Mode(
        LazyFunction(f"{__name__}.drift:retrieve"),
        "questions that reports open, looked up in the text one after another (Microsoft DRIFT)",
        options=DriftOptions,
        graph="communities",
        answer=LazyFunction(f"{__name__}.drift:answer"),
        sentence="Lets reports on groups of people raise questions, and looks these up "
        "in the text.",
    ),
    "dynamic": Mode(
        LazyFunction(f"{__name__}.dynamic:retrieve"),
        "reports that help, as a model rates them from the top down (Microsoft GraphRAG)",
        options=DynamicOptions,
        graph="communities",
        answer=LazyFunction(f"{__name__}.dynamic:answer"),
        sentence="Lets a model choose the reports on groups of people that help with the question.",
    ),
    "global": Mode(
        LazyFunction(f"{__name__}.global_:retrieve"),
        "all reports of one level, from which one answer is written (Microsoft GraphRAG)",
        options=GlobalOptions,
        graph="communities",
        answer=LazyFunction(f"{__name__}.global_:answer"),
        sentence="Reads all reports on groups of people and writes one answer; suits "
        "questions about the whole.",
    ),
}
