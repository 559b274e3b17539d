"""Print which packages a question and a document go through: `python scripts/trace_packages.py`.

Packages are the folders of `src/fabula`. Functions that are called are traced in all threads, from
the call of `Collection.ingest` or `Collection.query` until it returns. It needs no model, and
uses a collection of its own of the Neo4j that the settings name, which is emptied afterwards.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import Any

import fabula
from fabula import App
from fabula.operations.documents import remove_document

ROOT = str(Path(fabula.__file__).parent)
QUESTION = "Why does Scrooge change?"


def main() -> None:
    """Trace an ingest of the story that comes with Fabula, and a question."""
    story = resources.files("fabula") / "texts" / "a-christmas-carol.txt"
    offline: dict[str, Any] = {"model": "offline", "embedding_model": "wordllama-256"}
    with App(**offline) as app:
        collection = app.collection("trace-packages")
        for name, call in (
            ("a document", lambda: collection.ingest(str(story))),
            ("a question", lambda: collection.query(QUESTION)),
        ):
            print(f"{name}: {', '.join(trace_packages(call))}")
        remove_document(collection, str(story))


def trace_packages(call: Callable[[], object]) -> list[str]:
    """Return the packages whose functions a call enters, in the order of their first call."""
    packages: dict[str, None] = {}

    def record(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(ROOT):
            parts = Path(file).relative_to(ROOT).parts
            if len(parts) > 1:
                packages.setdefault(parts[0])

    threading.setprofile(record)
    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return list(packages)


if __name__ == "__main__":
    main()
