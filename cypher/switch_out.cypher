// Takes a document's nodes out of every index and every reader's sight.
// $document  its id
CYPHER 25
OPTIONAL MATCH (old:Document {id: $document})
SET old:Retired REMOVE old:Document
WITH old
CALL () { MATCH (n:Chunk {document: $document}) SET n:Retired REMOVE n:Chunk }
CALL () { MATCH (n:Summary {document: $document}) SET n:Retired REMOVE n:Summary }
CALL () { MATCH (n:Detail {document: $document}) SET n:Retired REMOVE n:Detail }
RETURN toString(old.created_at) AS created_at
