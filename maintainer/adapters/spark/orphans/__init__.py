"""What orphan scans and removals are given and find, in portions of the store and the link."""
