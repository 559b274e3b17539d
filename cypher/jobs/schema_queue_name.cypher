// Whoever takes a job takes the only queue first.
CYPHER 25
CREATE CONSTRAINT service_queue_name IF NOT EXISTS
FOR (n:ServiceQueue) REQUIRE n.name IS UNIQUE
