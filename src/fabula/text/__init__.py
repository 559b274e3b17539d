"""What a text is to every graph: chunks that tile it."""
