// The languages of a collection, with the number of documents in each, and of those that match.
// $collection     its name
// $words          words that a title or an author contains, folded; '' for all
CYPHER 25
MATCH (document:Document {collection: $collection})
WITH document.language AS language, $words = '' OR document.title_key CONTAINS $words
  OR document.author_key CONTAINS $words AS fits
RETURN language, count(*) AS documents, sum(CASE WHEN fits THEN 1 ELSE 0 END) AS fitting
ORDER BY language
