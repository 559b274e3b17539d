// Who says what to whom in a collection's documents, in text order.
// $collection  its name
// $document    a document's id, or '' for all
// $speaker     who speaks, by any name in lower case; '' for all
// $addressee   to whom, likewise
// $doubtful    whether those count whose speaker or addressee is asked for and doubtful
// $about       words in lower case of which a quotation must have one; an empty list for all
// $limit       how many
// $until       how many characters of the document the reader has read
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE $document IN ['', document.id]
MATCH (quotation:Element {document: document.id})
WHERE quotation:Quotation AND quotation.collection = $collection
  AND quotation.last <= $until
OPTIONAL MATCH (quotation)-[:SPOKEN_BY]->(speaker:Entity {collection: $collection})
OPTIONAL MATCH (quotation)-[:SPOKEN_TO]->(addressee:Entity {collection: $collection})
WITH document, quotation, speaker, addressee,
  // What says who speaks may come later: then nobody is named, and nobody's quotation it is.
  quotation.mention_end <= $until AND quotation.evidence_end <= $until AS is_known,
  coalesce(quotation.doubtful, false) AS doubtful,
  CASE WHEN speaker.last > $until THEN COLLECT {
    MATCH (speaker)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until
    UNWIND part.names AS name
    RETURN DISTINCT name
  } ELSE coalesce(speaker.names, []) + quotation.speaker END + quotation.printed AS speakers,
  CASE WHEN addressee.last > $until THEN COLLECT {
    MATCH (addressee)-[part:FROM_CHUNK]->(chunk:Chunk {collection: $collection})
    WHERE chunk.last <= $until
    UNWIND part.names AS name
    RETURN DISTINCT name
  } ELSE coalesce(addressee.names, []) + quotation.addressee END
    + quotation.printed_addressee AS addressees
WHERE ($doubtful OR NOT doubtful OR $speaker = '' AND $addressee = '')
  AND ($speaker = '' OR is_known AND any(name IN speakers WHERE toLower(name) = $speaker))
  AND ($addressee = '' OR any(name IN addressees WHERE toLower(name) = $addressee))
  AND (size($about) = 0 OR any(word IN $about WHERE toLower(quotation.text) CONTAINS word))
RETURN quotation.id AS id, document.id AS document, document.title AS title,
  CASE WHEN NOT is_known THEN ''
    WHEN quotation.speaker IN speakers THEN quotation.speaker ELSE quotation.printed END AS speaker,
  CASE WHEN quotation.addressee IN addressees THEN quotation.addressee
    ELSE quotation.printed_addressee END AS addressee, quotation.text AS text,
  quotation.manner AS manner,
  CASE WHEN is_known THEN quotation.evidence ELSE '' END AS evidence,
  quotation.evidence_start AS evidence_start, quotation.evidence_end AS evidence_end,
  CASE WHEN coalesce(quotation.quoted_until, 0) > $until THEN ''
    ELSE coalesce(quotation.quoted_by, '') END AS quoted_by,
  is_known AND doubtful AS doubtful,
  CASE WHEN is_known THEN coalesce(quotation.confidence, 0.0) ELSE 0.0 END AS confidence,
  quotation.rule AS rule, quotation.by AS by, quotation.words AS words,
  quotation.section AS section, quotation.start AS start, quotation.end AS end,
  CASE WHEN is_known THEN speaker.id END AS speaker_id, addressee.id AS addressee_id
ORDER BY title, document, start, id
LIMIT $limit
