// A page of the elements that have no words for the full-text index yet.
// $after  the id of the last element before it; '' for the first
// $limit  how many
CYPHER 25
MATCH (n:Element)
WHERE n.id > $after AND n.search_terms IS NULL
RETURN n.id AS id, n.collection AS collection, n.name AS name, n.text AS text
ORDER BY n.id
LIMIT $limit
