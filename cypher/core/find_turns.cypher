// The names of the turns that are held now, as their transactions' metadata tells.
CYPHER 25
SHOW TRANSACTIONS YIELD metaData, status
WHERE metaData.fabula_turn IS NOT NULL AND NOT status STARTS WITH 'Terminated'
RETURN metaData.fabula_turn AS names
