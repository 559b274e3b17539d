// Some top summaries, then step by step the best members of what was found.
// Returns nothing if the collection's embeddings are of another model or in another slot by now.
// $vector              the question's embedding
// $model, $slot        the model that embedded it, and the slot of its vectors
// $embedding           the property that holds those vectors
// $tops                the ids of the summaries to begin at
// $width               number of passages of each step
// $depth               number of steps down
// $collection          the collection to stay in
// $kinds               kinds to return (chunk, summary); [] for all
// $lowest, $highest    lowest and highest level to return
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
// One by one: the list in one MATCH lets the planner begin with a product of both.
UNWIND $tops AS id
MATCH (top:Passage {id: id})
  USING INDEX SEEK top:Passage(id)
WHERE top.collection = $collection
WITH collect(top) AS tops
WITH reduce(path = [tops], step IN range(1, $depth) | path + [COLLECT {
  UNWIND path[-1] AS node
  MATCH (node)-[:SUMMARIZES]->(member:Passage {collection: $collection})
  WITH DISTINCT member
  ORDER BY vector.similarity.cosine(member[$embedding], $vector) DESC, member.id
  LIMIT $width
  RETURN member
}]) AS path
UNWIND path AS nodes
UNWIND nodes AS passage
WITH DISTINCT passage
WHERE ($kinds = [] OR passage.kind IN $kinds)
  AND passage.level >= $lowest AND passage.level <= $highest
WITH passage, 2 * vector.similarity.cosine(passage[$embedding], $vector) - 1 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY score DESC, passage.id
