// What is annotated or noted in a collection, in text order.
// No rows: nothing is annotated; `fabula annotations import` or `fabula notes add --build` does that.
// :param collection => 'default';
//   the collection to stay in
// :param document => '';
//   the id of a document; '' for all
// :param layer => '';
//   the name of a layer, such as notes; '' for all
// :param tag => '';
//   a tag in lower case; '' for all
// :param until => 4611686018427387904;
//   how many characters of the document you have read
// :param limit => 200;
//   rows at most
CYPHER 25
MATCH (n:Element {collection: $collection, kind: 'annotation'})
WHERE $document IN ['', n.document] AND $layer IN ['', n.layer]
  AND ($tag = '' OR toLower(n.label) = $tag) AND n.last <= $until
MATCH (document:Document {id: n.document})
RETURN document.title AS document, n.section AS section, n.label AS tag, n.quote AS quote,
  n.body AS body, n.creator AS creator, n.layer AS layer, n.start AS start, n.id AS id
ORDER BY document, start, id
LIMIT $limit
