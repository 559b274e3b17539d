// Who lives, was born or died where, who comes from there or goes there, with what proves it.
// No rows: no such document, or it has no facts of that kind; `fabula build facts` makes
// them, and without a model few or none.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param name => '';
//   of whom or what, by its name; '' for all
// :param limit => 30;
//   rows at most
CYPHER 25
MATCH (document:Document {collection: $collection})
WHERE document.id = $document OR toLower(document.title) CONTAINS toLower($document)
  OR document.title_key CONTAINS toLower($document)
ORDER BY document.title, document.id
LIMIT 1
MATCH (fact:Element&Fact {collection: $collection, document: document.id})
WHERE fact.predicate IN ['lives_in', 'born_in', 'died_in', 'comes_from', 'travels_to']
  AND toLower($name) IN ['', toLower(fact.subject), toLower(fact.object)]
RETURN document.title AS title, fact.object AS place, fact.predicate AS how, fact.subject AS who, fact.count AS chunks,
  fact.section AS section, fact.start AS start, fact.proof AS proof
ORDER BY place, how, who, chunks DESC, start, fact.id
LIMIT $limit
