// The best top summaries of each aspect, then step by step the best members of what was found. For a
// reader who has not read everything, the tops are the highest summaries of what was read.
// Returns nothing if the collection's embeddings are of another model or in another slot by now.
// $vector                          the question's embedding
// $model, $slot                    the model that embedded it, and the slot of its vectors
// $embedding                       the property that holds those vectors
// $width                           number of passages of each step, and of tops of each aspect
// $depth                           number of steps down
// $collection                      the collection to search
// $first_document, $last_document  a document's id twice, or '' and the last character for all
// $kinds                           kinds to return (chunk, summary); [] for all
// $aspects                         aspects of the trees to search; [] for all
// $lowest, $highest                lowest and highest level to return
// $until                           how many characters of the document the reader has read
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
MATCH (top:Passage)
  USING INDEX SEEK top:Passage(collection, kind, document)
WHERE top.collection = $collection AND top.kind = 'summary'
  AND top.document >= $first_document AND top.document <= $last_document
  AND top.aspect IN aspects
  // Without a place ($until is above that of all nodes), a cheaper look at whether anything is above.
  AND CASE WHEN $until > 9007199254740992 THEN NOT EXISTS { (top)<-[:SUMMARIZES]-() }
    ELSE top.last <= $until
      AND NOT EXISTS { MATCH (top)<-[:SUMMARIZES]-(above:Passage) WHERE above.last <= $until }
    END
WITH top
ORDER BY vector.similarity.cosine(top[$embedding], $vector) DESC, top.id
WITH top.aspect AS aspect, collect(top)[..$width] AS best
UNWIND best AS top
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
  AND passage.level >= $lowest AND passage.level <= $highest AND passage.last <= $until
WITH passage, 2 * vector.similarity.cosine(passage[$embedding], $vector) - 1 AS score
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit, score
ORDER BY score DESC, passage.id
