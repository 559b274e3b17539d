"""Where entities come in as nodes, and communities, reports and claims go out as nodes and edges.

A `Community` has `level` (0 is the coarsest), `size`, `title`, `weight`, `chunks`, `by`, and the
place of its first chunk. A `Report` has `level`, `title`, `summary`, `text`, `findings` (JSON: a
list of `summary`, `explanation`, `chunks` and `refs`), `importance`, `why`, `said` and `by`. A
`Claim` has `subject`, `object`, `type`, `status`, `from`, `to`, `speaker`, `text` and `quotes`.
"""

from __future__ import annotations

ENTITIES, ENTITY, RELATION = "entities", "Entity", "Relation"
COMMUNITY, REPORT, CLAIM = "Community", "Report", "Claim"
HAS_MEMBER, PARENT_COMMUNITY = "HAS_MEMBER", "PARENT_COMMUNITY"
REPORTS, CITES = "REPORTS", "CITES"
FROM_CHUNK, SUBJECT, OBJECT = "FROM_CHUNK", "SUBJECT", "OBJECT"
