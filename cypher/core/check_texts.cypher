// Passages without words: no text, or a count of tokens that is not above 0.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (passage:Passage)
WHERE ($document = '' OR passage.document = $document)
  AND ($collection = '' OR passage.collection = $collection)
  AND NOT coalesce(passage.tokens > 0 AND trim(passage.text) <> '', false)
RETURN passage.document AS document, min(passage.id) AS id, count(*) AS count,
  'passages have no text or no tokens' AS what
ORDER BY document
LIMIT $limit
