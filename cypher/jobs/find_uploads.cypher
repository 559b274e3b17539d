// Which uploaded files somebody may use.
// $ids  of files and somebody together
CYPHER 25
MATCH (upload:ServiceUpload)
WHERE upload.id IN $ids
RETURN upload.sha256 AS sha256
