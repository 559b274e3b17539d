// State and population of the two indexes that retrieval needs.
CYPHER 25
SHOW INDEXES YIELD name, state, populationPercent
WHERE name IN ['passage_vectors', 'passage_texts']
RETURN name, state, populationPercent AS percent
ORDER BY name
