// The server's name, versions and edition, one row for each component.
CYPHER 5
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
