// Gives passages and elements the label that the full-text index is over from version 3 on.
CYPHER 25
CALL () {
  MATCH (n:Passage) WHERE NOT n:PassageText RETURN n, 'PassageText' AS label
  UNION ALL
  MATCH (n:Element) WHERE NOT n:ElementText RETURN n, 'ElementText' AS label
}
CALL (n, label) { SET n:$(label) } IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
