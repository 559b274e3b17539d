// Gives passages and elements the place from which on a reader may be shown them: `last`, the end of
// the last chunk that they rest on, and `since`, which is the end of the first one for elements that
// grow with the text. What rests on no single text, or on a chunk that is not there, is at $never.
// $never    the place of what no reader with a place may see
// $growing  kinds of elements that grow with the text
CYPHER 25
MATCH (n:Passage|Element)
WHERE n.since IS NULL OR n.last IS NULL
CALL (n) {
  WITH COLLECT {
    // A report rests on all of its community, whatever it cites.
    UNWIND CASE n.document WHEN '' THEN [] ELSE n.sources + COLLECT {
      MATCH (n)-[:REPORTS]->(community) UNWIND community.sources AS source RETURN source
    } END AS source
    OPTIONAL MATCH (chunk:Passage {id: source, collection: n.collection})
    RETURN coalesce(chunk.end, $never)
  } AS ends
  WITH reduce(most = 0, end IN ends | CASE WHEN end > most THEN end ELSE most END) AS most,
    reduce(least = $never, end IN ends | CASE WHEN end < least THEN end ELSE least END) AS least
  WITH CASE most WHEN 0 THEN $never ELSE most END AS last, least
  SET n.last = last, n.since = CASE WHEN n.kind IN $growing THEN least ELSE last END
} IN TRANSACTIONS OF 1000 ROWS
  ON ERROR RETRY FOR 30 SECONDS THEN FAIL
