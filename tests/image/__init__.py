"""The container images: `make image-check`. Not collected with the other tests."""
