// A page of the summaries and details that do not say who wrote them, with what their part was made
// from.
// $after  the id of the last one before it; '' for the first
// $limit  how many
CYPHER 25
MATCH (part:Part {graph: 'aspects'})
MATCH (n:Passage)
  USING INDEX SEEK n:Passage(collection, kind, document)
WHERE n.collection = part.collection AND n.kind IN ['summary', 'detail']
  AND n.document = part.document AND n.by IS NULL AND n.id > $after
RETURN n.id AS id, n.collection AS collection, n.kind AS kind, n.name AS name, n.text AS text,
  part.made_from AS made_from
ORDER BY id
LIMIT $limit
