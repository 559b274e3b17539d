"""What brings an older graph to each version of the schema, step by step.

A migration is never changed once it was released: graphs of its version are out there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.store.migration import Step
from fabula.store.migrations import v2, v3

MIGRATIONS: Mapping[int, Sequence[Step]] = {2: v2.STEPS, 3: v3.STEPS}
