// Whoever may use an uploaded file is found by it.
CYPHER 25
CREATE INDEX service_upload_sha256 IF NOT EXISTS
FOR (n:ServiceUpload) ON (n.sha256)
