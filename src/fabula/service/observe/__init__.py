"""The service seen from outside: logs, metrics, traces."""
