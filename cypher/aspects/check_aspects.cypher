// Aspects that a document was built for and that no summary of it is about.
// $rows   {document, aspects}: a document's id, and the names of its aspects
// $limit  how many findings to return
CYPHER 25
UNWIND $rows AS row
UNWIND row.aspects AS aspect
WITH row.document AS document, aspect
WHERE NOT EXISTS { (:Summary {document: document, aspect: aspect}) }
RETURN document, document AS id, 1 AS count, 'no summary is about ' + aspect AS what
ORDER BY document, what
LIMIT $limit
