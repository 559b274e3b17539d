// How many passages there are, and how many of them have an embedding of the next space.
CYPHER 25
MATCH (passage:Chunk|Summary|Detail)
RETURN count(*) AS passages, count(passage.next_embedding) AS embedded
