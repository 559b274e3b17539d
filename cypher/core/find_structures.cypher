// Where the sections, printed pages, numbered lines and names of speakers of documents begin, and
// their metadata.
// $collection  the documents' collection
// $documents   their ids
CYPHER 25
UNWIND $documents AS id
MATCH (document:Document {id: id})
WHERE document.collection = $collection
RETURN document.id AS id, document {
  .section_starts, .section_titles, .section_levels, .section_depths,
  .page_starts, .page_labels, .line_starts, .line_labels, .speaker_starts,
  metadata: [name IN keys(document) WHERE name STARTS WITH 'meta_' | [name, document[name]]]
} AS structure
