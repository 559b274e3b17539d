"""Fabula as a service: an HTTP API, a page, MCP, and OpenAI's interface.

It uses `App` and `Collection`, as the command line does. A request passes through `observe`
(request id, log, metrics), `http.admission` (caller and limits), and a route of `api`, `page`,
`openai` or `mcp`. `core` does the work and knows no HTTP. `http.errors` responds to all errors.
"""
