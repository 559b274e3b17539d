// The most bytes the server's heap may take.
CYPHER 25
CALL dbms.queryJmx('java.lang:type=Memory') YIELD attributes
RETURN attributes.HeapMemoryUsage.value.properties.max AS bytes
