// Gives a run's staged nodes their labels, which puts them in the indexes.
// $run         the name of the run
// $created_at  when the document first came in; null for a new one
CYPHER 25
MATCH (document:Staged {run: $run, kind: 'document'})
SET document:Document, document.created_at = coalesce(datetime($created_at), document.updated_at)
REMOVE document:Staged, document.run, document.kind
WITH document
CALL () { MATCH (n:Staged {run: $run, kind: 'chunk'}) SET n:Chunk REMOVE n:Staged, n.run }
CALL () { MATCH (n:Staged {run: $run, kind: 'summary'}) SET n:Summary REMOVE n:Staged, n.run }
CALL () { MATCH (n:Staged {run: $run, kind: 'detail'}) SET n:Detail REMOVE n:Staged, n.run }
RETURN document.id AS id
