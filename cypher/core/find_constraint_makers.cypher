// How many transactions are making a constraint now.
// $name  the name of the constraint
CYPHER 25
SHOW TRANSACTIONS YIELD currentQuery
WHERE currentQuery CONTAINS 'CREATE CONSTRAINT ' + $name + ' '
RETURN count(*) AS makers
