// Which of some uploaded files a job may still need, or somebody may still use.
// $sha256        of the files
// $milliseconds  how long what has failed, or was cancelled, may be tried again
CYPHER 25
UNWIND $sha256 AS sha256
WITH sha256
WHERE EXISTS { MATCH (upload:ServiceUpload) WHERE upload.sha256 = sha256 }
  OR EXISTS {
    MATCH (job:ServiceJob)-[:HAS_ITEM]->(item:ServiceItem)
    WHERE item.upload = sha256
      // A job that is just being written may be read without its state: then it has not ended.
      AND NOT coalesce(
        job.state = 'succeeded'
          OR (job.state IN ['failed', 'cancelled'] AND job.updated <= timestamp() - $milliseconds),
        false
      )
  }
RETURN sha256
