"""What the daemon says of itself: metrics, traces, lineage and webhooks."""
