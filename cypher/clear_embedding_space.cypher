// Forgets the embedding space of a graph that holds no document.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
WHERE NOT EXISTS { (:Document) }
DELETE space
RETURN count(*) AS cleared
