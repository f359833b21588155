"""The whole loop on each catalog and each storage, with real servers and a real Spark."""
