// The server's name, versions and edition, a row a component.
CYPHER 5
CALL dbms.components() YIELD name, versions, edition
RETURN name, versions, edition
