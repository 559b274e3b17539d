// Keeps that somebody may use an uploaded file, from now on.
// $id       of the two together
// $sha256   of the file
// $caller   who
CYPHER 25
MERGE (upload:ServiceUpload {id: $id})
SET upload.sha256 = $sha256, upload.caller = $caller, upload.created = timestamp()
