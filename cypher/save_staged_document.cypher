// Stages a document's own node, where no index and no reader sees it.
// $run         the name of this run
// $id          the document's id
// $properties  all its other properties
CYPHER 25
MERGE (document:Staged {run: $run, id: $id})
SET document += $properties, document.kind = 'document', document.updated_at = datetime()
