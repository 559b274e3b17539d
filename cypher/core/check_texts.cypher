// Passages and embedded elements without words: no text, or a count of tokens that is not above 0.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
  AND (n:Passage OR n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL)
  AND NOT coalesce(n.tokens > 0 AND trim(n.text) <> '', false)
WITH n, CASE WHEN n:Passage THEN 'passages' ELSE 'elements' END + ' have no text or no tokens' AS what
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
