"""Reports about the daemon: metrics, traces, lineage and webhooks."""
