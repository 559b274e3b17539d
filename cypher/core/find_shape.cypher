// The kinds of nodes that a collection has: how many there are of each, and of a sample of them the
// labels, the properties with their types, and the edges that lead from them.
// $collection  its name
// $sample      how many nodes of each kind are looked at
CYPHER 25
CALL () {
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
  RETURN 'Passage' AS role, n.kind AS kind, count(*) AS nodes
  UNION ALL
  MATCH (n:Element)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
  RETURN 'Element' AS role, n.kind AS kind, count(*) AS nodes
  UNION ALL
  MATCH (n:Document)
  WHERE n.collection = $collection AND n.title_key >= '' AND n.id >= ''
  RETURN 'Document' AS role, '' AS kind, count(*) AS nodes
  UNION ALL
  MATCH (n:Part)
  WHERE n.id STARTS WITH $collection + '/' AND n.collection = $collection
  RETURN 'Part' AS role, '' AS kind, count(*) AS nodes
}
WITH role, kind, nodes
WHERE nodes > 0 AND kind <> 'replies'
CALL (role, kind) {
  WITH role, kind WHERE role = 'Passage'
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n.kind = kind AND n.document >= ''
  RETURN n LIMIT $sample
  UNION ALL
  WITH role, kind WHERE role = 'Element'
  MATCH (n:Element)
  WHERE n.collection = $collection AND n.kind = kind AND n.document >= ''
  RETURN n LIMIT $sample
  UNION ALL
  WITH role, kind WHERE role = 'Document'
  MATCH (n:Document)
  WHERE n.collection = $collection AND n.title_key >= '' AND n.id >= ''
  RETURN n LIMIT $sample
  UNION ALL
  WITH role, kind WHERE role = 'Part'
  MATCH (n:Part)
  WHERE n.id STARTS WITH $collection + '/' AND n.collection = $collection
  RETURN n LIMIT $sample
}
WITH role, kind, nodes, collect(n) AS sample
RETURN role, kind, nodes, labels(sample[0]) AS labels,
  COLLECT {
    UNWIND sample AS n
    UNWIND keys(n) AS name
    RETURN DISTINCT {name: name, type: valueType(n[name])} AS property
    ORDER BY property.name, property.type
  } AS properties,
  COLLECT {
    UNWIND sample AS n
    MATCH (n)-[edge]->(m)
    WHERE coalesce(m.collection, $collection) = $collection
    RETURN DISTINCT {type: type(edge), to: labels(m), properties: keys(edge)} AS found
    ORDER BY found.type
  } AS edges
ORDER BY role, kind
