// The names of the locks that are held now, from the metadata of their transactions.
CYPHER 25
SHOW TRANSACTIONS YIELD metaData, status
WHERE metaData.fabula_turn IS NOT NULL AND NOT status STARTS WITH 'Terminated'
RETURN metaData.fabula_turn AS names
