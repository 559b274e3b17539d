// The runs that have staged nodes and not finished: the nodes are not switched in, or still have the
// labels of staging.
// Another sweep may delete a node while it is read here: its run is then null.
CYPHER 25
MATCH (n:Staged)
WITH DISTINCT n.run AS run
WHERE run IS NOT NULL
RETURN run
