// Who speaks to whom, how often and how much, those with most words first.
// No rows: no such document, or it has no quotations; `fabula build speech` finds them.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param name => '';
//   of whom, as speaker or addressee, by name; '' for all
// :param doubtful => false;
//   whether what is doubtful counts, too
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (quotation:Element&Quotation {collection: $collection, document: document.id})
WHERE quotation.speaker <> '' AND quotation.manner = 'speech'
  AND ($doubtful OR NOT coalesce(quotation.doubtful, false))
  AND toLower($name) IN ['', toLower(quotation.speaker), toLower(quotation.addressee)]
RETURN document.title AS title, quotation.speaker AS speaker,
  CASE quotation.addressee WHEN '' THEN '(nobody in particular)' ELSE quotation.addressee END
    AS addressee,
  count(*) AS quotations, sum(quotation.words) AS words,
  round(1.0 * sum(quotation.words) / count(*), 1) AS words_each
ORDER BY words DESC, speaker, addressee
LIMIT $limit
