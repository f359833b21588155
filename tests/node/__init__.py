"""The daemon on a real Kubernetes node: `make test-node`. Not collected with the other tests."""
