// A page of the documents that have no sections yet.
// $after  the id of the last document before it
// $limit  how many
CYPHER 25
MATCH (document:Document)
WHERE document.id > $after AND document.section_starts IS NULL
RETURN document.id AS id, document.collection AS collection, document.title AS title
ORDER BY id
LIMIT $limit
