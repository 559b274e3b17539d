// The passage that a place in a document names, or an element that can be cited.
// $collection, $document  its collection, and its id
// $at       a passage's or an element's id, in lower case
// $index    a chunk's number in the document; -1 for none
CYPHER 25
CALL () {
  MATCH (n:Passage {document: $document})
  WHERE n.collection = $collection AND (n.id = $at OR n.kind = 'chunk' AND n.index = $index)
  RETURN n
  ORDER BY n.id <> $at, n.start
  LIMIT 1
  UNION ALL
  MATCH (n:Element {id: $at})
  WHERE n.collection = $collection AND n.document = $document AND n.tokens IS NOT NULL
  RETURN n
}
WITH n
ORDER BY n.id <> $at
LIMIT 1
MATCH (document:Document {id: n.document})
  USING INDEX SEEK document:Document(id)
RETURN n {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
