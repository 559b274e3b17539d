"""The picture of a document's events in the order in which they are told."""
