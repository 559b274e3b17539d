// The id of the database, by which a server is recognised at another address.
CYPHER 25
CALL db.info() YIELD id
RETURN id
