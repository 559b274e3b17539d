// How many passages there are.
// $document  the id of the one to count in, or '' for all
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
WHERE $document = '' OR passage.document = $document
RETURN count(*) AS passages
