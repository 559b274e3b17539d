// What some summaries rest on, with how close it is to a question.
// None, where the collection's embeddings are of another model or in another slot by now.
// $summaries     ids of summaries
// $vector        the question's embedding
// $model, $slot  what embedded it, and where the collection keeps such vectors
// $embedding     the property that they are in
// $collection    the collection to stay in
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
UNWIND $summaries AS summary
MATCH (top:Passage {id: summary})-[:SUMMARIZES]->(passage:Passage)
WHERE top.collection = space.name AND passage.collection = space.name
WITH summary, passage, 2 * vector.similarity.cosine(passage[$embedding], $vector) - 1 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN summary AS of, passage {.id, .kind, .document, title: document.title,
  language: document.language, .section, .aspect, .level, .start, .end, .text, .tokens} AS hit, score
ORDER BY score DESC, passage.id
