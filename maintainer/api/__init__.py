"""The HTTP API: one router for each resource, and the schemas of requests and responses."""
