// The ids of a page of a collection's documents.
// $collection            its name
// $after_title, $after   the title key and the id of the last document before it; '' for the first
// $limit                 how many
CYPHER 25
MATCH (document:Document) USING INDEX document:Document(collection, title_key, id)
WHERE document.collection = $collection AND document.title_key >= $after_title
  AND document.id >= ''
  AND CASE document.title_key WHEN $after_title THEN document.id > $after ELSE true END
WITH document
ORDER BY document.collection, document.title_key, document.id
LIMIT $limit
RETURN document.id AS id, document.title_key AS title_key
ORDER BY title_key, id
