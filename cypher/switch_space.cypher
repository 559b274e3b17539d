// Makes the next embedding space the space: from here on questions are asked in it.
// $rows  {id, settings} of each document, the settings with the new model
CYPHER 25
MATCH (space:EmbeddingSpace {id: 'graph', phase: 'writing'})
SET space.model = space.next_model, space.dimensions = space.next_dimensions,
  space.phase = 'moving'
WITH space
UNWIND $rows AS row
MATCH (document:Document {id: row.id})
SET document.settings = row.settings
