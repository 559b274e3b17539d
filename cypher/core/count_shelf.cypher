// The languages of a collection: of each how many documents are in it, and how many of them fit.
// $collection     its name
// $words          what a title or an author has, in lower case; '' for all
CYPHER 25
MATCH (document:Document {collection: $collection})
WITH document.language AS language, $words = '' OR document.title_key CONTAINS $words
  OR toLower(document.author) CONTAINS $words AS fits
RETURN language, count(*) AS documents, sum(CASE WHEN fits THEN 1 ELSE 0 END) AS fitting
ORDER BY language
