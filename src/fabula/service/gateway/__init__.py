"""A gateway of models: one limit, one budget and one cache for all programs behind it.

It speaks OpenAI's interface, and stands before an endpoint that speaks it, too. A request passes
through `gateway_app` (routes, keys), `gateway_calls` (cache, equal calls under way, budget) and
`call_queue` (the learned limit) to `upstream` (the endpoint). It needs no Neo4j.
"""

from fabula.service.gateway.gateway_process import RunningGateway, run_gateway, serve_gateway

__all__ = ["RunningGateway", "run_gateway", "serve_gateway"]
