// The server's clock, by which all clients name and compare their runs.
CYPHER 25
RETURN timestamp() AS milliseconds
