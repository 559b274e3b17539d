"""Work that outlives requests and processes: kept in Neo4j, done by whoever is there.

A job is there once it is committed. Any process that serves the same graph, and would do it as it
was asked for (`recipes`), takes it up, one at a time, and says every few seconds that it still
works on it; a job of which nothing is heard is taken up again. That costs nothing twice, as an
ingest goes on from what the graph and the cache have.
"""
