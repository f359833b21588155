"""The input and the results of orphan scans and removals, as portions in the store and the link."""
