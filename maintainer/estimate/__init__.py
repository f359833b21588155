"""Pure: what Iceberg's procedures would do, computed from health. Knows no policy."""
