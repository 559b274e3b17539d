// Where some chunks of a document end.
// $collection  the collection of the chunks
// $ids         their ids
CYPHER 25
UNWIND $ids AS id
MATCH (chunk:Passage {id: id})
  USING INDEX SEEK chunk:Passage(id)
WHERE chunk.collection = $collection AND chunk.kind = 'chunk'
RETURN id, chunk.end AS end
ORDER BY id
