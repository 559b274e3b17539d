// The names of the turns that are held now, as their transactions' metadata tells.
CYPHER 25
SHOW TRANSACTIONS YIELD metaData
WHERE metaData.fabula_turn IS NOT NULL
RETURN metaData.fabula_turn AS names
