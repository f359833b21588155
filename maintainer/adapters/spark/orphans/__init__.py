"""The input and the results of orphan scans and removals, in portions of the store and the link."""
