// Passages and elements that no search by words finds, as they lack what the full-text index is over.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (n:Passage|Element)
WHERE ($document = '' OR n.document = $document) AND ($collection = '' OR n.collection = $collection)
  AND (n.search_text IS NULL OR n.search_terms IS NULL OR n.search_length IS NULL
    OR n.tenant IS NULL
    OR NOT n:PassageText|ElementText)
  AND NOT n:Replies
WITH n, CASE WHEN n:Passage THEN 'passages' ELSE 'elements' END
  + ' have no words for the full-text index' AS what
RETURN n.document AS document, min(n.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
