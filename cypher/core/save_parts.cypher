// Records what parts are made from now.
// $collection  their collection
// $rows        {id, made_from, fingerprint} of each
CYPHER 25
UNWIND $rows AS row
MATCH (part:Part {id: row.id})
WHERE part.collection = $collection
SET part.made_from = row.made_from, part.fingerprint = row.fingerprint
