"""What they say: metadata files, manifest lists and manifests."""
