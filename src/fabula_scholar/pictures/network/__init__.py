"""The picture of the network of a document's entities and their communities."""
