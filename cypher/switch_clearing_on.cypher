// Gives the one index its place again, and leaves the other to be cleared.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
SET space.phase = 'clearing'
