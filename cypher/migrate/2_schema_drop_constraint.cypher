// Removes a constraint of the first schema.
// $constraint  its name
CYPHER 25
DROP CONSTRAINT $constraint IF EXISTS
