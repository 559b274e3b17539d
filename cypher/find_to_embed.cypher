// Passages that have no embedding of the next space yet.
// $limit  how many
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
WHERE passage.next_embedding IS NULL
RETURN passage.id AS id, passage.text AS text
LIMIT $limit
