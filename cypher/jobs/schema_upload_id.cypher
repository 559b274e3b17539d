// Who may use an uploaded file is kept once.
CYPHER 25
CREATE CONSTRAINT service_upload_id IF NOT EXISTS
FOR (n:ServiceUpload) REQUIRE n.id IS UNIQUE
