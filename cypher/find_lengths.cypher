// What models have written so far, to expect the same of them: means over some documents.
// $documents  their ids
CYPHER 25
UNWIND $documents AS id
CALL (id) {
  MATCH (one:Summary {document: id, level: 1})
  WITH one, reduce(members = '', chunk IN COLLECT {
    MATCH (one)-[:SUMMARIZES]->(chunk) RETURN chunk.id ORDER BY chunk.id } | members + chunk)
    AS cluster
  RETURN count(one) AS summaries, count(DISTINCT cluster) AS clusters
}
CALL (id) { MATCH (one:Summary {document: id}) RETURN avg(one.tokens) AS summary }
CALL (id) { MATCH (one:Detail {document: id}) RETURN avg(one.tokens) AS detail }
RETURN CASE sum(clusters) WHEN 0 THEN null ELSE toFloat(sum(summaries)) / sum(clusters) END
  AS aspects, avg(summary) AS summary, avg(detail) AS detail
