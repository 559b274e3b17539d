// Aspects and kinds of passages that their collection does not list: no query finds those.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (passage:Passage)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
OPTIONAL MATCH (space:Collection {name: passage.collection})
WITH passage, CASE
  WHEN NOT coalesce(passage.aspect IN space.aspects, false)
    THEN 'no query finds the passages about ' + passage.aspect
  WHEN NOT coalesce(passage.kind IN space.kinds, false)
    THEN 'no query finds the passages of kind ' + passage.kind
END AS what
WHERE what IS NOT NULL
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
