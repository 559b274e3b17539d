// The languages of a collection, with the number of documents in each, and of those that match.
// $collection     its name
// $words          words that a title or an author contains, in lower case; '' for all
CYPHER 25
MATCH (document:Document {collection: $collection})
WITH document.language AS language, $words = '' OR document.title_key CONTAINS $words
  OR toLower(document.author) CONTAINS $words AS fits
RETURN language, count(*) AS documents, sum(CASE WHEN fits THEN 1 ELSE 0 END) AS fitting
ORDER BY language
