"""Writes the chart's values.yaml, values.schema.json and README.md: python -m helm.generator."""
