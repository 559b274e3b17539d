// What an aspect passes over: the chunks that no summary of it covers.
// No rows: no such document, it has no summaries of that aspect, or they cover every chunk, as
// those of all aspects together do unless some were left out: name an aspect.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for all documents
// :param aspect => 'plot';
//   chunks without a summary of this aspect; '' for those without any
// :param limit => 20;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
FILTER EXISTS {
  (summary:Passage&Summary {collection: $collection, document: document.id})
  WHERE $aspect IN ['', summary.aspect]
}
MATCH (chunk:Passage&Chunk {collection: $collection, document: document.id})
WHERE NOT EXISTS {
  (chunk)<-[:SUMMARIZES]-(summary:Summary {collection: $collection})
  WHERE $aspect IN ['', summary.aspect]
}
RETURN document.title AS title, chunk.section AS section, chunk.index AS index,
  chunk.tokens AS tokens, left(replace(chunk.text, '\n', ' '), 120) AS text, chunk.id AS id
ORDER BY title, document.id, index
LIMIT $limit
