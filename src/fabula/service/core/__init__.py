"""What the service does, whoever asks for it and however: asking, jobs, conversations, accounts."""
