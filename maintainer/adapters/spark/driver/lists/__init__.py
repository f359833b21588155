"""The long lists of a job, in portions: files that the job gets, and rows that it reports."""
