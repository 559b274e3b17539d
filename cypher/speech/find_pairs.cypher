// Who speaks to whom in a document, how often and with how many words.
// $collection  its name
// $document    the document's id
CYPHER 25
MATCH (quotation:Element {document: $document})
WHERE quotation:Quotation AND quotation.collection = $collection
  AND quotation.speaker <> '' AND quotation.manner = 'speech'
OPTIONAL MATCH (quotation)-[:SPOKEN_BY]->(speaker:Entity {collection: $collection})
OPTIONAL MATCH (quotation)-[:SPOKEN_TO]->(addressee:Entity {collection: $collection})
RETURN coalesce(speaker.id, quotation.speaker) AS speaker_id, quotation.speaker AS speaker,
  coalesce(addressee.id, quotation.addressee) AS addressee_id, quotation.addressee AS addressee,
  count(*) AS quotations, sum(quotation.words) AS words
ORDER BY words DESC, speaker, addressee, speaker_id, addressee_id
