// The embeddings of some passages.
// $passages    their ids
// $dimensions  of the graph's embeddings
CYPHER 25
UNWIND $passages AS id
MATCH (passage:Chunk|Summary|Detail {id: id})
RETURN id, vector(passage.embedding, $dimensions, FLOAT32) AS vector
