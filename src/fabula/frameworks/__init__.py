"""Fabula as a retriever in other frameworks, one module each; import the one that you use."""
