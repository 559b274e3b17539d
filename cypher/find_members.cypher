// What some summaries rest on, with how close it is to a question.
// None, where the graph's embeddings are of another model, or are just being moved.
// $summaries  ids of summaries
// $vector     the question's embedding
// $model      what embedded it
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', model: $model})
WHERE coalesce(space.phase, '') <> 'moving'
UNWIND $summaries AS summary
MATCH (:Summary {id: summary})-[:SUMMARIZES]->(passage:Chunk|Summary)
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN summary, passage.id AS id, passage.kind AS kind, passage.document AS document,
  document.title AS title, document.language AS language,
  passage.section AS section, passage.aspect AS aspect,
  passage.level AS level, passage.start AS start, passage.end AS end,
  passage.text AS text, passage.tokens AS tokens,
  2 * vector.similarity.cosine(passage.embedding, $vector) - 1 AS score
ORDER BY score DESC, id
