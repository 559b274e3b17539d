// Sections without a heading, or that cover other chunks than those they rest on.
// $collection  its name, or '' for all
// $document    its id, or '' for all
// $limit       how many findings to return
CYPHER 25
MATCH (section:Section)
WHERE ($document = '' OR section.document = $document)
  AND ($collection = '' OR section.collection = $collection)
WITH section, CASE
  WHEN NOT EXISTS { (section)-[:HEADED]->(:Heading) } THEN 'sections have no heading'
  WHEN COUNT { (section)-[:COVERS]->(:Chunk) } <> size(section.sources)
    THEN 'sections cover other chunks than those they rest on'
END AS what
WHERE what IS NOT NULL
RETURN section.document AS document, min(section.id) AS id, count(*) AS count, what
ORDER BY document, what
LIMIT $limit
