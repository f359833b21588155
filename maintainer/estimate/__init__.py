"""Pure: what Iceberg's procedures would do, recomputed from health; knows no policy."""
