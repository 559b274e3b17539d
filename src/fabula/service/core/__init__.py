"""What the service does, without HTTP: asking, jobs, conversations, keys and accounts."""
