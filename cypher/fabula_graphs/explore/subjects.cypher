// Whom and what each speaker talks about: names of entities in their own quotations.
// No rows: no such document, or it has no quotations, or no entities.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param speaker => '';
//   who speaks, by name; '' for all
// :param doubtful => false;
//   whether what is doubtful counts, too
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (quotation:Element&Quotation {collection: $collection, document: document.id})
WHERE quotation.speaker <> '' AND toLower($speaker) IN ['', toLower(quotation.speaker)]
  AND ($doubtful OR NOT coalesce(quotation.doubtful, false))
MATCH (quotation)-[:FROM_CHUNK]->(:Chunk)<-[:FROM_CHUNK]-(entity:Entity {collection: $collection})
WHERE entity.name <> quotation.speaker AND any(name IN entity.names WHERE quotation.text CONTAINS name)
WITH document, quotation.speaker AS speaker, entity.name AS about, entity.type AS type,
  count(DISTINCT quotation) AS quotations
RETURN document.title AS title, speaker, about, type, quotations
ORDER BY quotations DESC, speaker, about
LIMIT $limit
