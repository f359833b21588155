"""The long lists of a job: files to it and rows from it, in portions."""
