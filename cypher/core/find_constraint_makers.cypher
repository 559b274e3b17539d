// How many transactions are making the constraint of that name now.
// $name  of the constraint
CYPHER 25
SHOW TRANSACTIONS YIELD currentQuery
WHERE currentQuery CONTAINS 'CREATE CONSTRAINT ' + $name + ' '
RETURN count(*) AS makers
