// A job, what it is to be made with, its items in order, whether whoever worked on it let it go
// without a word, and how many jobs it waits for, with the first of them.
// $id  of the job
CYPHER 25
// Who just takes it may have written the state and not the lease when the two are read.
MATCH (job:ServiceJob {id: $id})
RETURN job {.*} AS job, job.state = 'running' AND coalesce(job.lease < timestamp(), false) AS lost,
  COLLECT {
    MATCH (recipe:ServiceRecipe {id: job.recipe}) RETURN recipe.made_with
  }[0] AS made_with,
  COUNT { (job)-[:WAITS_FOR]->() } AS waits,
  COLLECT {
    MATCH (job)-[:WAITS_FOR]->(before:ServiceJob)
    // Sorted before: behind the projection, `before` has no place.
    WITH before ORDER BY before.place LIMIT 1
    RETURN before {.id, .kind, .state}
  }[0] AS waits_for,
  COLLECT {
    MATCH (job)-[:HAS_ITEM]->(item:ServiceItem)
    RETURN item {.*} ORDER BY item.index
  } AS items
