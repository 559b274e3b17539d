"""The migrations: what brings an older graph to each version of the schema, step by step.

A migration is never changed once it was released, because graphs of its version exist. So it calls
nothing that may change: of the rest of Fabula it uses only what sends a statement (`Database`,
`query`, `ensure` and `wait`), and its statements are its own, in `cypher/migrate/`. What else it
needs it has a copy of. Constraints and indexes that the current version wants are made afterwards,
by `fabula.store.migration`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.store.migration import Step
from fabula.store.migrations import v2, v3, v4, v5, v6

MIGRATIONS: Mapping[int, Sequence[Step]] = {
    2: v2.STEPS,
    3: v3.STEPS,
    4: v4.STEPS,
    5: v5.STEPS,
    6: v6.STEPS,
}
