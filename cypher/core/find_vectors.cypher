// The embeddings of some passages.
// $collection  the collection to stay in
// $passages    their ids
// $embedding   the property that the collection's embeddings are in
// $dimensions  of those embeddings
CYPHER 25
UNWIND $passages AS id
MATCH (passage:Passage {id: id})
WHERE passage.collection = $collection AND passage[$embedding] IS NOT NULL
RETURN id, vector(passage[$embedding], $dimensions, FLOAT32) AS vector
