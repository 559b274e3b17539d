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
RETURN summary AS of, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language, passage.section AS section,
  passage.aspect AS aspect, passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens, score
ORDER BY score DESC, id
