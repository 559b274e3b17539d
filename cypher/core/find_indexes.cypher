// State, population and dimensions (0 where it has none) of the indexes that retrieval reads.
CYPHER 25
SHOW INDEXES YIELD name, state, populationPercent, options
WHERE name STARTS WITH 'passage_vectors_' OR name STARTS WITH 'element_vectors_'
  OR name IN ['passage_texts', 'element_texts']
RETURN name, state, populationPercent AS percent,
  coalesce(options.indexConfig.`vector.dimensions`, 0) AS dimensions
ORDER BY name
