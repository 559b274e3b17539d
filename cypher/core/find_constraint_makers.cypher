// How many transactions are making the constraint of that name now.
CYPHER 25
SHOW TRANSACTIONS YIELD currentQuery
WHERE currentQuery CONTAINS 'CREATE CONSTRAINT ' + $name + ' '
RETURN count(*) AS makers
