"""Pure: one chapter for each of Iceberg's procedures, behind one protocol and one registry."""
