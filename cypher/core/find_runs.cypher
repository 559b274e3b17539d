// The runs that have staged nodes and not finished: the nodes are not switched in, or still have the
// labels of staging.
// $run_prefix  what the names of a collection's runs begin with; '' for all
CYPHER 25
MATCH (n:Staged)
WHERE n.run STARTS WITH $run_prefix AND n.id >= ''
RETURN DISTINCT n.run AS run
