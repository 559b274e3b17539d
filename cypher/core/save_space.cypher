// Records a collection's embedding space, or another one if the collection has no document.
// $collection          its name
// $model, $dimensions  the model and the dimensions of its embeddings
CYPHER 25
MERGE (space:Collection {name: $collection})
ON CREATE SET space.model = $model, space.dimensions = $dimensions, space.slot = 1,
  space.aspects = [''], space.kinds = [], space.element_kinds = []
WITH space
WHERE (space.model <> $model OR space.dimensions <> $dimensions) AND space.phase IS NULL
  AND NOT EXISTS { (:Document {collection: $collection}) }
SET space.model = $model, space.dimensions = $dimensions, space.slot = 1,
  space.aspects = [''], space.kinds = [], space.element_kinds = []
