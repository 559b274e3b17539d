// Forgets some of the recipes by which no job that is kept is made, and returns how many.
// $days   of a job that is just being begun the recipe is there first: jobs are looked for only in
//         recipes that are this old
// $limit  how many at most
CYPHER 25
MATCH (recipe:ServiceRecipe)
WHERE coalesce(recipe.seen, 0) < timestamp() - $days * 86400000
  AND NOT EXISTS { MATCH (job:ServiceJob {recipe: recipe.id}) }
WITH recipe LIMIT $limit
DETACH DELETE recipe
RETURN count(*) AS forgotten
