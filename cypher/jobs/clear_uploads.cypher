// Forgets who may use uploaded files that nobody has used in time.
// $milliseconds  how long they may wait
CYPHER 25
MATCH (upload:ServiceUpload)
WHERE upload.created < timestamp() - $milliseconds
DELETE upload
