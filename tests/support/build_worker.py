"""A worker that makes parts from a plan: it reads the plan from stdin and writes what it made.

It could not reach a database: whatever imports Neo4j's driver fails.
"""

from __future__ import annotations

import pickle
import sys


def work() -> None:
    sys.modules["neo4j"] = None  # type: ignore[assignment]
    from fabula.build.make import make
    from fabula.build.outcome import SilentProgress
    from fabula.config.model_factory import ModelFactory
    from fabula.config.settings import Settings
    from fabula.models.counted import Meter

    plan = pickle.load(sys.stdin.buffer)
    built = make(plan, ModelFactory(Settings.read()), SilentProgress(), Meter())
    sys.stdout.buffer.write(pickle.dumps(built))


if __name__ == "__main__":
    work()
