// State, population and dimensions (0 where it has none) of all indexes, those of constraints too.
CYPHER 25
SHOW INDEXES YIELD name, type, state, populationPercent, options
WHERE type <> 'LOOKUP'
RETURN name, state, populationPercent AS percent,
  coalesce(options.indexConfig.`vector.dimensions`, 0) AS dimensions
ORDER BY name
