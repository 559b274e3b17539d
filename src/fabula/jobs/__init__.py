"""Jobs: work that outlives requests and processes, as it is kept in Neo4j.

A job exists once it is committed. Any process that serves the same graph and would do the job as it
was asked for (`recipes`) may take it, one process at a time. The process renews its lease each
second; a job whose lease has run out is taken again. Nothing is paid for twice then, as an ingest
continues from what the graph and the cache have.
"""
