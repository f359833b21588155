"""What a release publishes, tried from an empty place: make release-check."""
