// What somebody says about something, in their own words, with what says that they speak.
// No rows: no such document, nobody of that name speaks, or says that word.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param speaker => '';
//   who speaks, by name; '' for all
// :param word => '';
//   a word that they say, either case; '' for all
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
WHERE toLower($speaker) IN ['', toLower(quotation.speaker)]
  AND toLower(quotation.text) CONTAINS toLower($word)
  AND ($doubtful OR NOT coalesce(quotation.doubtful, false))
RETURN document.title AS title, quotation.speaker AS speaker, quotation.addressee AS addressee,
  quotation.text AS text, quotation.evidence AS evidence, quotation.rule AS rule,
  quotation.section AS section, quotation.start AS start
ORDER BY start, quotation.id
LIMIT $limit
