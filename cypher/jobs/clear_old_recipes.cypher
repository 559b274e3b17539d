// Deletes some of the recipes that no job refers to, and returns how many.
// $days   how many days old they have to be: a new job's recipe is there before the job
// $limit  how many at most
CYPHER 25
MATCH (recipe:ServiceRecipe)
WHERE recipe.seen < timestamp() - $days * 86400000
  AND NOT EXISTS { MATCH (job:ServiceJob {recipe: recipe.id}) }
WITH recipe LIMIT $limit
// Locks it: whoever begins such a job just now may have been faster.
SET recipe.seen = recipe.seen
WITH recipe
WHERE recipe.seen < timestamp() - $days * 86400000
  AND NOT EXISTS { MATCH (job:ServiceJob {recipe: recipe.id}) }
DETACH DELETE recipe
RETURN count(*) AS deleted
