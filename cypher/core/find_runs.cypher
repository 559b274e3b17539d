// The runs that have staged nodes and not finished: not switched them in, or not cleared them of what
// staging needed.
CYPHER 25
MATCH (n:Staged)
RETURN DISTINCT n.run AS run
