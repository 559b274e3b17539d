// The runs that have staged nodes and not finished: the nodes are not switched in, or still have the
// labels of staging.
CYPHER 25
MATCH (n:Staged)
RETURN DISTINCT n.run AS run
