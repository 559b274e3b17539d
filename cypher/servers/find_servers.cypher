// The other servers that a home server knows, and the collections that live there or are being moved.
CYPHER 25
RETURN COLLECT {
  MATCH (server:Server)
  RETURN server { .name, .uri, .username, .database, .in_keyring }
  ORDER BY server.name
} AS servers, COLLECT {
  MATCH (place:CollectionPlace)
  RETURN place { collection: place.name, .server, .moving_to, .leaving }
  ORDER BY place.name
} AS places
