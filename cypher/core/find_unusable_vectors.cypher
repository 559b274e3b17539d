// Passages and embedded elements of a collection whose embedding the vector index leaves out: it is
// missing, has other dimensions or no length, or the node lacks the label of its dimensions.
// $collection     its name
// $embedding      the property of the embeddings in use
// $dimensions     how many they have
// $label          the label of passages with so many dimensions
// $element_label  the label of elements with so many dimensions
// $after          the id to begin after; '' for the first
// $limit          how many
CYPHER 25
CALL () {
  MATCH (n:Passage)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
  RETURN n, $label AS label
  UNION ALL
  MATCH (n:Element)
  WHERE n.collection = $collection AND n.kind >= '' AND n.document >= ''
    AND (n[$embedding] IS NOT NULL OR any(label IN labels(n) WHERE label =~ 'Element\\d+'))
  RETURN n, $element_label AS label
}
WITH n, label, reduce(square = 0.0, one IN n[$embedding] | square + one * one) AS square
WHERE n.id > $after AND (
  coalesce(size(n[$embedding]), 0) <> $dimensions
  OR NOT coalesce(0 < square < 1e30, false)
  OR NOT label IN labels(n))
RETURN n.id AS id, coalesce(n.embedded_text, n.text) AS text
ORDER BY id
LIMIT $limit
