"""The long lists that go with a job: files to it, rows from it, in portions."""
