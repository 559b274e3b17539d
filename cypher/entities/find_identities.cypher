// Which entities of a collection are one, and which are told from others, by the graph `identities`.
// Who was decided of stays among the members where a document was replaced, though its ties went.
// $collection  the collection to stay in
CYPHER 25
MATCH (n:Element {collection: $collection, kind: 'identity'})
WHERE n.document >= ''
RETURN n.id AS id, n.members AS members
ORDER BY id
