// One ServiceRecipe of each digest.
CYPHER 25
CREATE CONSTRAINT service_recipe_id IF NOT EXISTS
FOR (n:ServiceRecipe) REQUIRE n.id IS UNIQUE
