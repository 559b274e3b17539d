// The identities of a collection with their members. An entity stays among the members when its
// document is replaced, though its edge is removed.
// $collection  name of the collection
CYPHER 25
MATCH (n:Element {collection: $collection, kind: 'identity'})
WHERE n.document >= ''
RETURN n.id AS id, n.members AS members
ORDER BY id
