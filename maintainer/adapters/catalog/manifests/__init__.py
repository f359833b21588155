"""Decoders of metadata files, manifest lists and manifests."""
