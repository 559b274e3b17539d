// Documents are found by a part of their title.
CYPHER 25
CREATE TEXT INDEX document_part_of_title IF NOT EXISTS
FOR (n:Document) ON (n.title_key)
