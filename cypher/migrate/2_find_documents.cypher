// A page of the documents that have no parts yet.
// $after  the id of the last document before it; '' for the first
// $limit  how many
CYPHER 25
MATCH (document:Document)
WHERE document.id > $after AND document.settings IS NOT NULL
RETURN document { .* } AS document
ORDER BY document.id
LIMIT $limit
