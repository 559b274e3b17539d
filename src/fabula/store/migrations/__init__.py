"""The migrations: what brings an older graph to each version of the schema, step by step.

A migration is a module `v2`, `v3`, ... with its steps. It is never changed once it was released,
because graphs of its version exist. So it calls nothing that may change: of the rest of Fabula it
uses only what sends a statement (`Database`, `query`, `ensure` and `wait`), and its statements are
its own, in `cypher/migrate/`, each named after the version that it leads to. What else it needs it
has a copy of. Constraints and indexes that the current version wants are made afterwards, by
`fabula.store.migration`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabula.store.migration import Step

MIGRATIONS: Mapping[int, Sequence[Step]] = {}
"""The steps to each version after the first."""
