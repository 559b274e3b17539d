// A page of the documents, with the names that they are found by.
// $after  the id of the last document before it; '' for the first
// $limit  how many
CYPHER 25
MATCH (n:Document)
WHERE n.id > $after AND n.title_key IS NOT NULL
RETURN n.id AS id, n.title AS title, n.author AS author, n.source AS source
ORDER BY n.id
LIMIT $limit
