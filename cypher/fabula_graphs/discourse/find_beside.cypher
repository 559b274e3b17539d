// The chunks right before and after some chunks: how near each is to a question, and how near chunks
// of its document are as a rule. None, where the embeddings are of another model by now.
// $vector        the question's embedding
// $model, $slot  what embedded it, and where the collection keeps such vectors
// $embedding     the property that has them
// $collection    the collection to stay in
// $nodes         ids of chunks
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
UNWIND $nodes AS of
MATCH (chunk:Passage {id: of})
  USING INDEX SEEK chunk:Passage(id)
WHERE chunk.collection = $collection
MATCH (any:Passage {document: chunk.document, kind: 'chunk'})
  USING INDEX SEEK any:Passage(document)
WHERE any.collection = $collection AND any.last <= $until
WITH chunk, avg(vector.similarity.cosine(any[$embedding], $vector)) AS usual
MATCH (chunk)-[:NEXT_CHUNK]-(beside:Chunk {collection: $collection})
WHERE beside.last <= $until
RETURN beside.id AS id, 2 * usual - 1 AS usual,
  2 * vector.similarity.cosine(beside[$embedding], $vector) - 1 AS cosine
ORDER BY cosine DESC, id
