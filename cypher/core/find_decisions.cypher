// What people decided about the graphs of a collection, in the order in which they did.
// $collection  its name
CYPHER 25
MATCH (decision:Decision)
WHERE decision.id STARTS WITH $collection + '/' AND decision.collection = $collection
RETURN decision {
  .number, .graph, .kind, .names, .document, .documents, .by, .undone_by,
  at: toString(decision.at), undone_at: coalesce(toString(decision.undone_at), '')
} AS decision
ORDER BY decision.number
