// Gives every collection the embedding space that all had in common.
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph'})
MATCH (passage:Chunk|Summary|Detail)
WITH space, passage.collection AS name, collect(DISTINCT passage.aspect) AS aspects,
  collect(DISTINCT passage.kind) AS kinds
MERGE (collection:Collection {name: name})
SET collection.model = space.model, collection.dimensions = space.dimensions, collection.slot = 1,
  collection.aspects = COLLECT { UNWIND aspects AS one RETURN one ORDER BY one },
  collection.kinds = COLLECT { UNWIND kinds AS one RETURN one ORDER BY one }
