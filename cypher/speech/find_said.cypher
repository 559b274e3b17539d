// Who says what to whom in a collection's documents, in text order.
// $collection  its name
// $document    a document's id, or '' for all
// $speaker     who speaks, by any name in lower case; '' for all
// $addressee   to whom, likewise
// $about       words in lower case of which a quotation must have one; an empty list for all
// $limit       how many
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (quotation:Element {document: document.id})
WHERE quotation:Quotation AND quotation.collection = $collection
OPTIONAL MATCH (quotation)-[:SPOKEN_BY]->(speaker:Entity {collection: $collection})
OPTIONAL MATCH (quotation)-[:SPOKEN_TO]->(addressee:Entity {collection: $collection})
WITH document, quotation, speaker, addressee
WHERE ($speaker = '' OR any(name IN [quotation.speaker, quotation.printed] + coalesce(speaker.names, [])
    WHERE toLower(name) = $speaker))
  AND ($addressee = '' OR any(name IN [quotation.addressee, quotation.printed_addressee]
    + coalesce(addressee.names, []) WHERE toLower(name) = $addressee))
  AND (size($about) = 0 OR any(word IN $about WHERE toLower(quotation.text) CONTAINS word))
RETURN quotation.id AS id, document.id AS document, document.title AS title,
  quotation.speaker AS speaker, quotation.addressee AS addressee, quotation.text AS text,
  quotation.manner AS manner, quotation.evidence AS evidence,
  quotation.evidence_start AS evidence_start, quotation.evidence_end AS evidence_end,
  quotation.rule AS rule, quotation.by AS by, quotation.words AS words,
  quotation.section AS section, quotation.start AS start, quotation.end AS end,
  speaker.id AS speaker_id, addressee.id AS addressee_id
ORDER BY title, document, start, id
LIMIT $limit
