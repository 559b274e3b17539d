// Keeps what decides how a job is done, once for all jobs that are done alike.
// $id         the digest of it
// $made_with  all of it, as JSON
CYPHER 25
MERGE (recipe:ServiceRecipe {id: $id})
SET recipe.made_with = $made_with, recipe.seen = timestamp()
