// A page of a collection's parts, with what each is made from.
// $collection  its name
// $after       the last id of the previous page; '' for the first
// $limit       how many
CYPHER 25
MATCH (part:Part)
// '0' follows '/': ids of other collections are outside of these two.
WHERE part.id > CASE $after WHEN '' THEN $collection + '/' ELSE $after END
  AND part.id < $collection + '0' AND part.collection = $collection
RETURN part.id AS id, part.graph AS graph, part.document AS document, part.made_from AS made_from
ORDER BY id
LIMIT $limit
