// Records another server, or its new address.
// $name                       its name
// $uri, $username, $database  how it is reached; its password is not in the graph
// $in_keyring                 whether the system's keyring has the password
CYPHER 25
MERGE (server:Server {name: $name})
ON CREATE SET server.added_at = datetime()
SET server.uri = $uri, server.username = $username, server.database = $database,
  server.in_keyring = $in_keyring
