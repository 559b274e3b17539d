// Who is whose kin, servant or friend, lives or goes where, owns or wants what, and its proof.
// No rows: no such document, or it has no facts of that kind; `fabula build facts` makes
// them, and without a model few or none.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   a document's id, or a part of its title; '' for the first by title
// :param about => '';
//   kinship, dwellings or possessions; '' for all facts
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
WHERE ($about = '' OR fact.predicate IN CASE $about
    WHEN 'kinship' THEN ['parent_of', 'sibling_of', 'spouse_of', 'serves', 'friend_of']
    WHEN 'dwellings' THEN ['lives_in', 'born_in', 'died_in', 'comes_from', 'travels_to']
    WHEN 'possessions' THEN ['owns', 'gives', 'wants', 'wrote']
    ELSE [] END)
  AND toLower($name) IN ['', toLower(fact.subject), toLower(fact.object)]
RETURN document.title AS title, fact.subject AS subject, fact.predicate AS predicate,
  fact.object AS object, fact.count AS chunks, fact.section AS section, fact.start AS start,
  fact.proof AS proof
ORDER BY predicate, subject, object, chunks DESC, start, fact.id
LIMIT $limit
