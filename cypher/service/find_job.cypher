// A job, what it is to be made with, its items in order, and whether whoever worked on it let it go
// without a word.
// $id  of the job
CYPHER 25
// Who just takes it may have written the state and not the lease when the two are read.
MATCH (job:ServiceJob {id: $id})
RETURN job {.*} AS job, job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost,
  COLLECT {
    MATCH (recipe:ServiceRecipe {id: job.recipe}) RETURN recipe.made_with
  }[0] AS made_with,
  COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
    RETURN item {.*} ORDER BY item.index
  } AS items
