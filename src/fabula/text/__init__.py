"""From a document to its graph; knows models, and no database."""
