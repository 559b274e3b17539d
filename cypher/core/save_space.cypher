// Records a collection's embedding space; one that has no document takes another.
// $collection          its name
// $model, $dimensions  of every embedding that will be in it
CYPHER 25
MERGE (space:Collection {name: $collection})
ON CREATE SET space.model = $model, space.dimensions = $dimensions, space.slot = 1,
  space.aspects = [''], space.kinds = [], space.element_kinds = []
WITH space
WHERE (space.model <> $model OR space.dimensions <> $dimensions) AND space.phase IS NULL
  AND NOT EXISTS { (:Document {collection: $collection}) }
SET space.model = $model, space.dimensions = $dimensions, space.slot = 1,
  space.aspects = [''], space.kinds = [], space.element_kinds = []
