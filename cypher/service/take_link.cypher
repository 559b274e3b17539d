// Uses a link up: a row, if it was good. Of several at once one has it, as the first write waits for
// the others' to be done.
// $hash  of its token
CYPHER 25
MATCH (link:ServiceLink {hash: $hash})
SET link.wanted = true
WITH link, link.taken IS NULL AND link.until > datetime() AS is_good
SET link.taken = true
RETURN is_good
