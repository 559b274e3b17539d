// Gives a document another title, author and date; returns how many documents these are, 1 or 0.
// $collection, $document  its collection, and its id
// $title, $title_key      the title, and the same folded (fabula.text.folding)
// $author, $author_key    the author, likewise
// $published              the date or year of the text, '' if it is not known
CYPHER 25
MATCH (document:Document {id: $document})
WHERE document.collection = $collection
SET document.title = $title, document.name = $title, document.title_key = $title_key,
  document.author = $author, document.author_key = $author_key,
  document.published = $published,
  document.updated_at = datetime()
RETURN count(document) AS documents
