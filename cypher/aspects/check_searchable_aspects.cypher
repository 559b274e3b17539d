// Aspects that summaries have and that the embedding space does not list: no query finds those.
// $document  its id, or '' for all
// $limit     how many findings to return
CYPHER 25
OPTIONAL MATCH (space:EmbeddingSpace {id: 'graph'})
WITH coalesce(space.aspects, []) AS known
MATCH (summary:Summary)
WHERE ($document = '' OR summary.document = $document) AND NOT summary.aspect IN known
RETURN summary.document AS document, min(summary.id) AS id, count(*) AS count,
  'no query finds the summaries about ' + summary.aspect AS what
ORDER BY document, what
LIMIT $limit
