// Records what parts are made from now.
// $rows  {id, made_from, fingerprint} of each
CYPHER 25
UNWIND $rows AS row
MATCH (part:Part {id: row.id})
SET part.made_from = row.made_from, part.fingerprint = row.fingerprint
