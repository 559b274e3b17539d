// State, population and dimensions (0 where it has none) of all indexes, and which are constraints'.
CYPHER 25
SHOW INDEXES YIELD name, type, state, populationPercent, options, owningConstraint
WHERE type <> 'LOOKUP'
RETURN name, state, populationPercent AS percent,
  coalesce(options.indexConfig.`vector.dimensions`, 0) AS dimensions,
  owningConstraint IS NOT NULL AS constrains
ORDER BY name
