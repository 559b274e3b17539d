"""The picture of a document's summary trees over its line of chunks."""
