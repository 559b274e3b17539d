"""An OpenAI-compatible endpoint: its calls, what it refuses, and how its replies are read."""
