// A slice of a layer of annotations has a number within its layer.
CYPHER 25
CREATE CONSTRAINT annotation_slice_id IF NOT EXISTS
FOR (n:AnnotationSlice) REQUIRE n.id IS UNIQUE
