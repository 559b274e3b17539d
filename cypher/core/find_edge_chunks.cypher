// The first or the last chunks of documents, or those of them that name all of some people.
// $collection  the collection to stay in
// $documents   ids of documents
// $people      of each, the folded forms of the name, a space before and after; [] for all chunks
// $until       how many characters of the document the reader has read
// $from_end    whether the last chunks are meant, the very last first
// $limit       how many of each document
CYPHER 25
UNWIND $documents AS id
CALL (id) {
  MATCH (passage:Passage {collection: $collection, kind: 'chunk', document: id})
    USING INDEX SEEK passage:Passage(collection, kind, document)
  WHERE passage.last <= $until
    AND all(forms IN $people
      WHERE any(form IN forms WHERE ' ' + passage.search_text + ' ' CONTAINS form))
  RETURN passage
  ORDER BY CASE WHEN $from_end THEN -passage.start ELSE passage.start END
  LIMIT $limit
}
MATCH (document:Document {id: passage.document})
  USING INDEX SEEK document:Document(id)
RETURN passage {.id, .kind, .document, title: document.title, language: document.language,
  .section, .aspect, .level, .start, .end, .text, .tokens, .since} AS hit
ORDER BY document.id, CASE WHEN $from_end THEN -passage.start ELSE passage.start END
