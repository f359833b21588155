"""One file per revision, never changed once released."""
