// The runs that have staged something and not switched it in.
CYPHER 25
MATCH (n:Staged)
RETURN DISTINCT n.run AS run
