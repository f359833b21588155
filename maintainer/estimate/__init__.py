"""Pure: the results of Iceberg's procedures, computed from health. Knows no policy."""
