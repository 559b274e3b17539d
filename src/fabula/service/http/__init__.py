"""What the API, the page, MCP and the OpenAI interface share of HTTP."""
