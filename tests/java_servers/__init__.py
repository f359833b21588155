"""Servers of other projects that run on Java: Iceberg's REST catalog, Nessie and an S3 server."""
