"""Pure: the size, the safeguards and the timeout of one job."""
