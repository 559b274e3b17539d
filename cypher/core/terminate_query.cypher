// Ends a query on the server, found by the tag in its transaction's metadata.
// $tag  the tag of the query
CYPHER 25
SHOW TRANSACTIONS YIELD transactionId AS id, metaData
WHERE metaData.fabula_query = $tag
TERMINATE TRANSACTIONS id YIELD message
RETURN message
