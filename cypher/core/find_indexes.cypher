// All indexes with their state, population and dimensions (0 if none), and whether they constrain.
CYPHER 25
SHOW INDEXES YIELD name, type, state, populationPercent, options, owningConstraint
WHERE type <> 'LOOKUP'
RETURN name, state, populationPercent AS percent,
  coalesce(options.indexConfig.`vector.dimensions`, 0) AS dimensions,
  owningConstraint IS NOT NULL AS constrains
ORDER BY name
