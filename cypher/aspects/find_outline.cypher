// The summaries of a document, from the top level down, in text order, with their members.
// $collection, $document  its collection and its id
// $aspects                aspects to return; [] for all
// $lowest                 lowest level to return
// $until                  how many characters of the document the reader has read
CYPHER 25
MATCH (summary:Passage)
  USING INDEX SEEK summary:Passage(collection, kind, document)
WHERE summary.collection = $collection AND summary.kind = 'summary'
  AND summary.document = $document AND summary.level >= $lowest
  AND summary.last <= $until
  AND ($aspects = [] OR summary.aspect IN $aspects)
RETURN summary.id AS id, summary.aspect AS aspect, summary.level AS level,
  summary.section AS section, summary.start AS start, summary.end AS end, summary.text AS text,
  summary.tokens AS tokens, COLLECT {
    MATCH (summary)-[edge:SUMMARIZES]->(member:Passage)
    WHERE member.collection = $collection
    RETURN {id: member.id, weight: edge.weight} ORDER BY member.start, member.id
  } AS members
ORDER BY level DESC, start, id
