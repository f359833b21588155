"""What runs on the cluster."""
