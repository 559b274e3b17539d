// Of each aspect the summaries nearest to a question that no other summary is above, by the index, so
// that a shelf of books is not read through. One row for each aspect: the ids of its tops, best first,
// and how many summaries the index gave: fewer than asked for if there are no more.
// Returns nothing if the collection's embeddings are now of another model or in another slot.
// The program replaces passage_vectors_256 by the index of the collection.
// $vector          the question's embedding
// $model, $slot    its embedding model, and the slot of the collection's embeddings
// $collection      the collection to search
// $aspects         aspects of the trees to search; [] for all
// $width           how many tops of each aspect to return
// $reach           how many summaries of each aspect the index is asked for
CYPHER 25
MATCH (space:Collection {name: $collection, model: $model, slot: $slot})
WITH CASE WHEN $aspects = [] THEN space.aspects ELSE $aspects END AS aspects
UNWIND aspects AS aspect
CALL (aspect) {
  MATCH (passage:Passage)
  SEARCH passage IN (
    VECTOR INDEX passage_vectors_256 FOR $vector
    WHERE passage.collection = $collection AND passage.kind = 'summary'
      AND passage.aspect = aspect
    LIMIT $reach
  ) SCORE AS near
  WITH passage, near
  ORDER BY near DESC, passage.id
  WITH collect(passage) AS summaries
  RETURN size(summaries) AS seen, [
    top IN summaries WHERE NOT EXISTS { (top)<-[:SUMMARIZES]-() } | top.id
  ][..$width] AS tops
}
RETURN aspect, tops, seen
ORDER BY aspect
