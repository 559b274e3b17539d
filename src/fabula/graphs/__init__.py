"""The graphs that come with Fabula, one package for each. None of them imports the store."""
