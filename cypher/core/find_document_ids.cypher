// The ids of a page of a collection's documents.
// $collection            its name
// $after_title, $after   the title key and the id of the last document before it; '' for the first
// $limit                 how many
CYPHER 25
MATCH (document:Document)
WHERE document.collection = $collection AND (document.title_key > $after_title
  OR (document.title_key = $after_title AND document.id > $after))
RETURN document.id AS id, document.title_key AS title_key
ORDER BY title_key, id
LIMIT $limit
